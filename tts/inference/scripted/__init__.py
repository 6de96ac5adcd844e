"""The `scripted` engine, which plays recorded or generated turns."""
