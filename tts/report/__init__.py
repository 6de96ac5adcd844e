"""The map of an answer, and a self-contained HTML report."""
