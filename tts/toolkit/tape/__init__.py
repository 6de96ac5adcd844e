"""Tapes: results of tools that are recorded once and can be replayed anywhere."""
