"""Runs the service on a private or a shared cluster until a block ends."""
