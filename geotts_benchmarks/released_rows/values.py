"""From the rows' JSON, which has no word for some numbers, to values, and back."""

from __future__ import annotations

import math
from typing import Any

_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def with_numbers(value: Any) -> Any:
    """The value with "nan" and "inf" as the numbers they stand for."""
    if isinstance(value, dict):
        return {key: with_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_numbers(item) for item in value]
    return _NUMBERS.get(value, value) if isinstance(value, str) else value


def with_words(value: Any) -> Any:
    """The value with numbers that JSON has no word for as strings."""
    if isinstance(value, dict):
        return {key: with_words(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [with_words(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value
