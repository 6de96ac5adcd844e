"""The result of one row of a corpus: equal, different, or declared as different."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import JsonValue

from tts.domain.value import Value

_SHOWN_CHARS = 300


class RowResult(Value):
    """`declared` rows count neither way: they rest on something that nobody supplied, and `reason` names it."""

    verdict: Literal["equal", "differ", "declared"]
    reason: str = ""


EQUAL = RowResult(verdict="equal")


def excluded_row(reason: str) -> RowResult:
    """A row that cannot be judged; `reason` names what nobody supplied."""
    return RowResult(verdict="declared", reason=reason)


def differing_row(reason: str) -> RowResult:
    """A row that is not reproduced; `reason` says where."""
    return RowResult(verdict="differ", reason=reason)


def compare_pairs(**pairs: tuple[Any, Any]) -> RowResult:
    """Equal when both sides of every pair (`name=(wanted, made)`) are; else the first pair that differs."""
    for name, (wanted, made) in pairs.items():
        if not is_same(wanted, made):
            return differing_row(f"{name}: wanted {_shorten(wanted)}, made {_shorten(made)}")
    return EQUAL


def is_same(wanted: JsonValue, made: JsonValue, *, tolerance: float = 1e-6) -> bool:
    """Equal character for character, and number for number within `tolerance`; true is no number."""
    if isinstance(wanted, bool) or isinstance(made, bool):
        return wanted is made
    if isinstance(wanted, int | float) and isinstance(made, int | float):
        return abs(wanted - made) <= tolerance
    if isinstance(wanted, dict) and isinstance(made, dict):
        keys = wanted.keys() == made.keys()
        return keys and all(is_same(wanted[key], made[key], tolerance=tolerance) for key in wanted)
    if isinstance(wanted, list) and isinstance(made, list):
        pairs = zip(wanted, made, strict=False)
        return len(wanted) == len(made) and all(is_same(a, b, tolerance=tolerance) for a, b in pairs)
    return wanted == made


def _shorten(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
