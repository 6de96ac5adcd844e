"""Benchmarks: one a file, each measures one thing and returns the keys that docs/benchmarks.md explains."""
