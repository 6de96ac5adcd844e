"""Refuses a request because of one of its fields."""

from __future__ import annotations

from tts.errors import RequestError


def wrong_field(field: str, problem: str) -> RequestError:
    """The error that names the field and says what is wrong with it."""
    return RequestError(f"{field}: {problem}", errors=({"field": field, "problem": problem},))
