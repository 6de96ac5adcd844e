"""The embedded engine, which reads signs and asks what would help most."""
