"""Answers and runs in the formats that other programs read: maps, tables, sidecars, trajectories."""
