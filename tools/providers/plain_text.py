"""Converts replies of services to plain text: no tags, no entities, no repeated white space."""

from __future__ import annotations

import html
import re

_TAG = re.compile(r"<[^<>]{0,200}>")


def plain_text(marked: str, *, limit: int = 600) -> str:
    """Remove tags and entities of HTML, and shorten the text.

    Args:
        marked: text of a service, with or without tags and entities of HTML.
        limit: most characters of the result, with the ellipsis that stands where it was cut; 1 or more.

    Returns:
        One line of at most `limit` characters, cut at a word.
    """
    text = " ".join(html.unescape(_TAG.sub("", marked)).split())
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"
