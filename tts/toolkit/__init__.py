"""Defines tools, and runs, caches (broker), records and replays (tape) their calls."""
