"""Where `HEAD` works: for every `GET` except an event stream, which has no length and whose log it would open."""

from __future__ import annotations

import re

_STREAM_PATH = re.compile(r"/locate/[^/]*/events\Z")


def answers_head(path: str) -> bool:
    """Whether `HEAD` works where `GET` does."""
    return not _STREAM_PATH.search(path)
