"""Computes what lines of text indicate about countries and places, and combines this into a belief
(`docs/clues.md`)."""
