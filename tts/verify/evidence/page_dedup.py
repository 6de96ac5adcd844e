"""Recognises search hits that are one page: the same address in another spelling, or the same text at another
address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

from tts.decision_weights import weights
from tts.domain.tooling import WebFact
from tts.geodata.names import normalise

_PAGE_PREFIX = "web:"
_SEPARATOR = "\t"
_MIN_PAGE_LETTERS = int(weights("grounding")["page_letters"])
_TRACKING_PARAMETER = re.compile(r"^(?:utm_\w+|gclid|fbclid|ref|source)$")


def page_witness(fact: WebFact) -> str:
    """The name of a page as a witness: its address and its words. `merge_same_pages` makes names of several
    rollouts alike."""
    words = normalise(f"{fact.title} {fact.snippet}")
    return f"{_PAGE_PREFIX}{_normalise_address(fact.url)}{_SEPARATOR}{words if len(words) >= _MIN_PAGE_LETTERS else ''}"


def merge_same_pages(witnesses: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The same sets, with one name for all pages that share an address or their words; other witnesses stay."""
    names = sorted({name for found in witnesses for name in found if name.startswith(_PAGE_PREFIX)})
    root = {name: name for name in names}

    def find_root(name: str) -> str:
        while root[name] != name:
            name = root[name]
        return name

    first: dict[str, str] = {}
    for name in names:
        address, _, words = name.removeprefix(_PAGE_PREFIX).partition(_SEPARATOR)
        for mark in filter(None, (f"at {address}", words and f"says {words}")):
            one, other = sorted((find_root(first.setdefault(mark, name)), find_root(name)))
            root[other] = one
    return [frozenset(find_root(name) if name in root else name for name in found) for found in witnesses]


def _normalise_address(url: str) -> str:
    """Without scheme, `www.` or `m.`, fragment, tracking parameters and the last slash."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.").removeprefix("m.")
    except ValueError:
        return url
    kept = urlencode(
        [(k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING_PARAMETER.match(k)]
    )
    return f"{host}{parts.path.rstrip('/')}{kept and '?' + kept}"
