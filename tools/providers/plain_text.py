"""Converts replies of services to plain text: no tags, no entities, no repeated white space."""

from __future__ import annotations

import html
import re

_TAG = re.compile(r"<[^<>]{0,200}>")


def plain_text(marked: str, *, limit: int = 600) -> str:
    """At most `limit` characters, cut at a word."""
    text = " ".join(html.unescape(_TAG.sub("", marked)).split())
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"
