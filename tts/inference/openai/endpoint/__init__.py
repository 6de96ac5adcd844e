"""Finds out what an OpenAI-compatible endpoint accepts, and changes a request so that the endpoint serves it."""
