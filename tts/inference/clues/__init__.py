"""The embedded engine: it reads signs and makes the most useful tool calls."""
