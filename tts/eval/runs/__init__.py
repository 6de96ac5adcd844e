"""Recorded runs: one line a request, written so that nothing is lost or repeated whatever happens to the process."""
