"""Values as the corpus spells them: "nan" and "inf" for what JSON cannot write, lone surrogates as escapes."""

from __future__ import annotations

import math
from typing import Any


def to_corpus_spelling(value: Any) -> Any:
    """The same tree in the corpus' spelling; tuples become lists."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, str):
        return "".join(f"\\u{ord(c):04x}" if 0xD800 <= ord(c) <= 0xDFFF else c for c in value)
    if isinstance(value, list | tuple):
        return [to_corpus_spelling(item) for item in value]
    if isinstance(value, dict):
        return {key: to_corpus_spelling(item) for key, item in value.items()}
    return value
