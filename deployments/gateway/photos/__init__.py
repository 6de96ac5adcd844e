"""Incoming photos: fetching by URL, and decoding in a separate process."""
