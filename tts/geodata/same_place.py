"""Whether two spellings name one place. Names are aliases, not strings."""

from __future__ import annotations

from rapidfuzz import fuzz

from tts.decision_weights import weights
from tts.geodata.names import normalise

_SAME_NAME = weights("names")["same_name"]


def same_place(one: str, other: str) -> bool:
    """As "Hefei" is "Hefei City", "Milano" is "Milan"; an empty name is nobody's."""
    a, b = normalise(one), normalise(other)
    if not a or not b:
        return False
    return f" {b} " in f" {a} " or f" {a} " in f" {b} " or fuzz.ratio(a, b) >= _SAME_NAME
