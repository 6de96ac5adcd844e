"""Recognises, in what a server says of a request that it refuses, that the conversation is longer than its context."""

from __future__ import annotations

import re

_OVERFLOW_MESSAGE = re.compile(
    r"context[ _](length|size|window)|exceed_context_size|n_ctx|context_length_exceeded|prompt is too long|"
    r"input token count|maximum (model|sequence) length|longer than the maximum",
    re.IGNORECASE,
)


def reports_context_overflow(text: str) -> bool:
    """Whether the text of a refusal says that the conversation does not fit into the context."""
    return bool(_OVERFLOW_MESSAGE.search(text))
