"""Small print: a line of the photo that only one sign bears, found again in what a tool states about a place.

A street with its number, a telephone number or a domain stands on few signs in the world. A place or page near a point
that repeats it word for word speaks for that point more than any name does, because names are shared by branches,
namesakes and misreadings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tts.decision_weights import weights
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Hypothesis
from tts.domain.tooling import PlaceFact, WebFact
from tts.geodata.names import normalise
from tts.verify.evidence.evidence_sources import Source, statement_of
from tts.verify.evidence.grounding import NEAR_KM
from tts.verify.evidence.ledger import Finding, LedgerEntry
from tts.verify.evidence.page_dedup import page_witness

_DOMAIN = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\w/-]*")
_WORD = re.compile(r"[^\W\d_]{3,}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_W = weights("grounding")
_LONG_WORD_LETTERS = int(_W["address_word_letters"])
_MIN_PHONE_DIGITS = int(_W["telephone_digits"])
_MAX_LINE_CHARS = int(_W["small_print_characters"])


def detail_checks(
    best: Hypothesis, point: LatLon, sources: Sequence[Source], read: Sequence[str]
) -> Iterator[LedgerEntry]:
    """One entry for each statement near the point, or about its town, that repeats small print of the photo."""
    lines = [line for line in read if is_small_print(line)]
    seen_witnesses: set[str] = set()
    for source in sources:
        if not _is_about(source, best, point):
            continue
        statement = f" {normalise(statement_of(source.fact))} "
        line = next((line for line in lines if f" {normalise(line)} " in statement), None)
        witness = _witness_name(source)
        if line is not None and witness not in seen_witnesses:
            seen_witnesses.add(witness)
            claim = f"“{line}” is in the photo and in what the tool returned"
            yield source.entry("detail", claim, Finding.SUPPORTED, line)


def is_small_print(line: str) -> bool:
    """Whether a line is a street with its number, a telephone number or a domain, by its shape."""
    if len(line) > _MAX_LINE_CHARS:
        return False
    many_digits = sum(char.isdigit() for char in line) >= _MIN_PHONE_DIGITS
    return many_digits or _is_address(line) or _DOMAIN.fullmatch(line.strip()) is not None


def _is_address(line: str) -> bool:
    """One number that is no year, with two words or a long one."""
    numbers, words = _NUMBER.findall(line), _WORD.findall(_NUMBER.sub(" ", line))
    named = len(words) >= 2 or any(len(word) >= _LONG_WORD_LETTERS for word in words)
    return len(numbers) == 1 and _YEAR.fullmatch(numbers[0]) is None and named


def _is_about(source: Source, best: Hypothesis, point: LatLon) -> bool:
    """A place near the point that the rollout did not put in itself, or a page that names its town or place."""
    fact = source.fact
    if isinstance(fact, PlaceFact):
        return fact.point is not None and distance_km(fact.point, point) <= NEAR_KM and not source.is_echo
    if not isinstance(fact, WebFact):
        return False
    words = f" {normalise(statement_of(fact))} "
    return any(name and f" {normalise(name)} " in words for name in (best.city, best.place))


def _witness_name(source: Source) -> str:
    fact = source.fact
    return page_witness(fact) if isinstance(fact, WebFact) else f"place:{getattr(fact, 'id', '')}"
