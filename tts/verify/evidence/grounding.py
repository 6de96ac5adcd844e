"""Grounding: how much a rollout's point rests on tool results, or on text that was read."""

from __future__ import annotations

import re

from tts.decision_weights import weights
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Hypothesis
from tts.domain.tooling import PlaceFact, WebFact
from tts.geodata.names import normalise
from tts.verify.evidence.evidence_sources import Source, is_distinctive
from tts.verify.evidence.ledger import Finding, LedgerEntry
from tts.verify.evidence.page_dedup import merge_same_pages, page_witness
from tts.verify.evidence.world import World

_W = weights("grounding")
EXACT_KM = _W["exact_km"]
NEAR_KM = _W["near_km"]
_MIN_QUERY_WORD_LETTERS = int(_W["query_word_letters"])
_MAX_PAGE_TOWN_KM = _W["page_town_km"]


def ground_hypothesis(
    best: Hypothesis, point: LatLon, sources: list[Source], read: list[str], world: World
) -> tuple[float, frozenset[str], list[LedgerEntry]]:
    """The firmest support for the point, everything it rests on, and the entries for it."""
    read_text = normalise(" ".join(read))
    supports: list[tuple[float, str, LedgerEntry]] = []
    for source in sources:
        fact = source.fact
        if isinstance(fact, PlaceFact) and not source.is_echo and fact.point is not None:
            away = distance_km(fact.point, point)
            if away <= NEAR_KM:
                claim = f"{fact.name} lies {away:.1f} km from the point"
                entry = source.entry("point", claim, Finding.SUPPORTED, fact.name)
                supports.append((_support_strength(source, fact, away, read_text), _place_witness(source, fact), entry))
        elif isinstance(fact, WebFact) and (name := _name_on_page(fact, best, point, world)):
            entry = source.entry("point", f"a web page mentions {name}", Finding.SUPPORTED, fact.title)
            supports.append((_W["web"], page_witness(fact), entry))
    for line in read:
        if (place := _name_in_line(line, best, point, world)) is not None:
            entry = LedgerEntry(about="point", claim=f"the photo says {place}", finding=Finding.SUPPORTED, quote=line)
            supports.append((_W["read"], f"read:{normalise(line)}", entry))
    if not supports:
        unsupported = LedgerEntry(about="point", claim=f"the point is {point}", finding=Finding.UNSUPPORTED)
        return 0.0, frozenset(), [unsupported]
    supports.sort(key=lambda support: (-support[0], support[1]))
    best_strength = supports[0][0]
    strong = [support for support in supports if support[0] >= _W["strong"] * best_strength]
    witnesses = frozenset(witness for _, witness, _ in strong)
    more = 1.0 - _W["repeated"] ** (len(merge_same_pages([witnesses])[0]) - 1)
    grounding = best_strength + (1.0 - best_strength) * more
    return grounding, witnesses, [entry for _, _, entry in supports[:6]]


def _support_strength(source: Source, fact: PlaceFact, away_km: float, read_text: str) -> float:
    """Near, well matched, unambiguous, and a name that can be read in the photo: all four make a strong support."""
    nearness = 1.0 if away_km <= EXACT_KM else _W["beyond_exact"]
    match = fact.score if fact.score is not None else _W["unscored_match"]
    name = normalise(fact.name)
    if not read_text:
        visible = _W["no_text"]
    else:
        is_shown = (name and name in read_text) or (is_distinctive(source.query) and source.query in read_text)
        visible = 1.0 if is_shown or _shares_long_word(source.query, read_text) else _W["unseen_query"]
    return float(nearness * match * visible / source.rivals ** _W["rivals"])


def _shares_long_word(query: str, read_text: str) -> bool:
    """A longer query of which a telling word was read."""
    words = set(read_text.split())
    return any(len(word) >= _MIN_QUERY_WORD_LETTERS and word in words for word in query.split())


def _place_witness(source: Source, fact: PlaceFact) -> str:
    return f"place:{fact.source}:{fact.id}:{source.query}"


def _name_on_page(fact: WebFact, best: Hypothesis, point: LatLon, world: World) -> str | None:
    """The town or place of the hypothesis if the page names it and it really lies at the point."""
    words = normalise(f"{fact.title} {fact.snippet}")
    for name in (best.place, best.city):
        key = normalise(name)
        named = is_distinctive(key) and re.search(rf"\b{re.escape(key)}\b", words) is not None
        if named and (name == best.place or world.place_named(name, point, within_km=_MAX_PAGE_TOWN_KM) is not None):
            return name
    return None


def _name_in_line(line: str, best: Hypothesis, point: LatLon, world: World) -> str | None:
    """The hypothesis' own town, read in the photo, where the point is."""
    key = normalise(line)
    for name in (best.city, best.place):
        wanted = normalise(name)
        if is_distinctive(wanted) and re.search(rf"\b{re.escape(wanted)}\b", key):
            return name if world.place_named(name, point, within_km=NEAR_KM) is not None else None
    return None
