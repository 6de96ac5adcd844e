"""Turns results of tools into mentions: names found inside a country, addresses, and names of places around a point.

In the whole world, nearly every short string is similar to the name of some town. Inside one country few are, and
around one point hardly any. An unexplained name is therefore compared with similar names only after a rollout has
looked it up near the place that the photo seems to show. An address that a geocoder knows is a place of its own, as
good as printed coordinates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from rapidfuzz.distance import OSA

from tts.clues.mentions import Mention, MentionReader
from tts.clues.postal_addresses import ADDRESS
from tts.decision_weights import weights
from tts.domain.tooling import PlaceFact, ToolCall, ToolResult
from tts.geodata.gazetteer import Gazetteer, Match
from tts.geodata.names import normalise
from tts.geodata.place_facts import stated_place

SEARCH = "poi_keyword_search"
GEOCODE = "geocode"
AROUND = "reverse_geocode"
_W = weights("mentions")
_COARSE_KIND = re.compile(  # providers' kinds of what is no address: OpenStreetMap's, Google's, AMap's
    r"\b(?:administrative|borough|city|country|county|hamlet|island|locality|municipality|neighbou?rhood|political"
    r"|post(?:al )?code|quarter|region|state|sublocality|suburb|town|village)\b"
    r"|[国國]家|省|市|区县|开发区|乡镇|村庄|商圈"
)
_MAX_NEARBY_TOWNS = 40
_MIN_LETTERS = int(_W["around_letters"])
_LETTERS_PER_EDIT = int(_W["around_letters_an_edit"])
Lookup = tuple[ToolCall, ToolResult]


def pair_lookups(calls: Iterable[ToolCall], results: Iterable[ToolResult]) -> list[Lookup]:
    """Every call of a rollout with its result, in the order of the results."""
    by_id = {call.id: call for call in calls}
    return [(by_id[result.call_id], result) for result in results if result.call_id in by_id]


class LookupReader:
    """Knows the tools that the embedded engine asks. Deterministic; a name is mentioned once."""

    def __init__(self, names: MentionReader, gazetteer: Gazetteer, familiar: Callable[[str], bool]) -> None:
        self._names = names
        self._gazetteer = gazetteer
        self._is_familiar = familiar

    def mentions(
        self, lookups: Iterable[Lookup], texts: Sequence[str], known: Sequence[Mention]
    ) -> tuple[Mention, ...]:
        """What the answers add to the mentions that are `known` from the lines themselves."""
        names = {mention.name for mention in known}
        found: dict[str, Mention] = {}
        for call, result in lookups:
            facts = [fact for fact in result.facts if isinstance(fact, PlaceFact) and fact.point is not None]
            for mention in self._mentions_from_call(call, facts, texts, names) if facts else ():
                if mention.name not in names:
                    found.setdefault(mention.name, mention)
        return tuple(found.values())

    def _mentions_from_call(
        self, call: ToolCall, facts: Sequence[PlaceFact], texts: Sequence[str], named: Collection[str]
    ) -> Iterator[Mention]:
        if call.name == SEARCH and call.arguments.get("country"):
            yield from self._searched_mentions(normalise(str(call.arguments.get("query", ""))), facts)
        elif call.name == GEOCODE or call.name.startswith(f"{GEOCODE}."):  # a released geocoder has its name behind it
            yield from self._geocoded_mentions(str(call.arguments.get("address", "")), facts)
        elif call.name == AROUND:
            yield from self._nearby_mentions(facts, texts, named)

    def _searched_mentions(self, query: str, facts: Iterable[PlaceFact]) -> Iterator[Mention]:
        """A name inside a country; one that is spelt exactly so is known without a search."""
        if query and not self._gazetteer.search(query, limit=1, fuzzy=False):
            matches = (self._find_match(fact, query) for fact in facts if fact.place_kind != "country")
            mention = self._names.mention_of_query(query, list(matches))
            if mention is not None:
                yield mention

    def _geocoded_mentions(self, address: str, facts: Iterable[PlaceFact]) -> Iterator[Mention]:
        """The place of an address. A geocoder that only finds its town adds nothing to the name of the town."""
        exact = [match for fact in facts if (match := self._address_match(fact)) is not None]
        if exact:
            base = _W["address_base"] if len({match.place.name for match in exact}) == 1 else _W["address_of_several"]
            yield Mention(normalise(address), address[:120], tuple(exact), _W["address"], base)

    def _nearby_mentions(
        self, facts: Sequence[PlaceFact], texts: Sequence[str], named: Collection[str]
    ) -> Iterator[Mention]:
        """Words that nothing explains and that are nearly the name of something around the point that was checked."""
        for text in dict.fromkeys(part for line in texts for part in (line, *line.split())):
            name = normalise(text)
            letters = len(name.replace(" ", ""))
            if name in named or letters < _MIN_LETTERS or self._is_familiar(text):
                continue
            near = [
                (edits, fact) for fact in facts if (edits := _edit_distance(name, fact)) * _LETTERS_PER_EDIT <= letters
            ]
            if near:
                edits = min(edits for edits, _ in near)
                matches = (
                    self._address_match(fact) or self._find_match(fact, name) for count, fact in near if count == edits
                )
                yield Mention(name, text[:120], tuple(matches), _W["around"] / (1 + edits), _W["around_base"])

    def _find_match(self, fact: PlaceFact, query: str) -> Match:
        """A provider's place as the gazetteer's; main names are in Latin letters."""
        place = self._gazetteer.get(fact.id) or stated_place(fact, "city")
        score = fact.score if fact.score is not None else 1.0
        return Match(place, score, fact.name, primary=query.isascii())

    def _address_match(self, fact: PlaceFact) -> Match | None:
        """A place smaller than a town, called by the town it is in; None for towns and larger."""
        coarse = self._gazetteer.get(fact.id) is not None or _COARSE_KIND.search(fact.place_kind) is not None
        if coarse or not fact.country_code:
            return None
        place = stated_place(fact, ADDRESS)
        towns = self._gazetteer.nearest(place.point, limit=_MAX_NEARBY_TOWNS, max_km=_W["address_town_km"])
        if not towns:
            return None
        town, _ = max(towns, key=lambda pair: pair[0].population * math.exp(-pair[1] / _W["address_pull_km"]))
        named = replace(place, name=town.name, admin1=town.admin1, population=town.population)
        return Match(named, 1.0, fact.name, primary=True)


def _edit_distance(name: str, fact: PlaceFact) -> int:
    """Letters by which a name differs from that of a place or from a part of its address."""
    called = [normalise(part) for part in (fact.name, *fact.address.split(","))]
    return min(OSA.distance(name, other) for other in called)
