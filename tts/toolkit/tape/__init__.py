"""Tapes: what tools answered, recorded once and replayed anywhere."""
