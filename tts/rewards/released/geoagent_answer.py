"""Reads the answer of GeoAgent in its output: the names that it states, and the address to look up.

The rewards read an output in this way, and so does the released dialect. Source: `swift/plugin/orm.py`, commit in
`geoagent_reward.py`.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from tts.domain.text_between_marks import between_tags, widest_object

_ANSWER = between_tags("answer", re.IGNORECASE)
_SEPARATOR = re.compile(r"[;；]")


class Names(NamedTuple):
    """Country, region and place; empty where nothing is stated."""

    country: str
    region: str
    place: str


def answer_for_names(text: str) -> str:
    """The first answer, else the whole text."""
    found = _ANSWER.search(text)
    return (text if found is None else found.text).strip()


def answer_for_geocoding(text: str) -> str | None:
    """The first answer, else `FinalAnswer` of the object between the first brace and the last, else None."""
    if (found := _ANSWER.search(text)) is not None:
        return found.text.strip()
    value = json_between_braces(text)
    return str(value["FinalAnswer"]).strip() if value is not None and "FinalAnswer" in value else None


def names_in(answer: str) -> Names:
    """The parts between plain or full-width semicolons; empty ones are skipped, a fourth stays with the third."""
    parts = [part.strip() for part in _SEPARATOR.split(answer) if part.strip()]
    country, region = [*parts, "", ""][:2]
    return Names(country, region, ";".join(parts[2:]))


def json_between_braces(text: str) -> dict[str, Any] | None:
    """The JSON object from the first brace to the last, or None."""
    found = widest_object(text)
    if found is None:
        return None
    try:
        value = json.loads(found)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
