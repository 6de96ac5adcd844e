"""Converts replies of services to plain text: no tags, no entities, no repeated white space."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from itertools import islice

from tts.domain.tooling import WebFact

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


def web_facts(source: str, hits: Iterable[tuple[str, str, str]], limit: int) -> list[WebFact]:
    """Turn the hits of a web search into facts.

    Args:
        source: the name of the service, as the facts state it.
        hits: the title, the snippet and the URL of each, as the service writes them.
        limit: most facts, 1 or more.

    Returns:
        One fact for each of the first hits, in their order, numbered from 1, without markup.
    """
    return [
        WebFact(number=number, title=plain_text(title), snippet=plain_text(snippet), url=url, source=source)
        for number, (title, snippet, url) in enumerate(islice(hits, limit), 1)
    ]
