"""Engines: each turns a conversation into tokens."""
