"""The places between which a check decides, as the verifier asks about them.

All are treated alike: a tool is asked for the name in the gazetteer, never in the words of a claim. What led the
blind rollouts to a place is no question about it, whether the place is claimed or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tts.domain.claim import ClaimedPlace
from tts.domain.geo import Circle, Countries, LatLon
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.tooling import PlaceFact, WebFact
from tts.geodata.names import normalise
from tts.verify.assembly.answer_names import names_at
from tts.verify.claims.claim_weighing import Rival
from tts.verify.claims.claimed_area import centre_of, contains_point
from tts.verify.evidence.evidence_sources import is_distinctive
from tts.verify.evidence.world import World
from tts.verify.inquiry.tool_statements import ToolStatement, ToolStatements, contains_phrase


@dataclass(frozen=True, slots=True)
class PlaceInQuestion:
    """One of the places. `city` is its name, of a country or a region too; see `AskedPlace`."""

    place: ClaimedPlace
    world: World
    city: str
    country_code: str
    searched_lines: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """As people read it."""
        return self.place.place

    def is_named_in(self, statement: ToolStatement) -> bool:
        """Whether a statement is about this place: about a point inside it, or a page that names it."""
        fact = statement.fact
        if isinstance(fact, PlaceFact):
            return fact.point is not None and contains_point(self.place, fact.point, self.world)
        return (
            isinstance(fact, WebFact)
            and is_distinctive(normalise(self.city))
            and contains_phrase(statement.words, self.city)
        )


def asked_places(
    places: Sequence[ClaimedPlace], rival: Rival | None, answer: LatLon | None, stated: ToolStatements, world: World
) -> tuple[PlaceInQuestion, ...]:
    """The places in question, and the best place outside them where there is only one.

    The place of the blind rollouts' `answer` comes first, then they are in the order of their names: the order says
    nothing of the claim.
    """
    every = [*places, *([_rival_place(rival, world)] if len(places) == 1 and rival is not None else [])]
    every.sort(key=lambda one: (answer is None or not contains_point(one, answer, world), one.place))
    return tuple(_place_in_question(place, stated, world) for place in every)


def _rival_place(rival: Rival, world: World) -> ClaimedPlace:
    found = names_at(rival.point, Level.CITY, Hypothesis(point=rival.point), world)
    named = " ".join(part for part in (found["city"], f"({found['country']})" if found["country"] else "") if part)
    around = Circle(centre=rival.point, radius_km=rival.km)
    return ClaimedPlace(place=named or str(rival.point), kind="town", areas=(around,))


def _place_in_question(place: ClaimedPlace, stated: ToolStatements, world: World) -> PlaceInQuestion:
    centre = centre_of(place)
    codes = list(_country_codes(place))
    country = world.country_near(centre) if centre is not None else None
    code = country.code if country is not None else codes[0] if len(codes) == 1 else ""
    asked_place = PlaceInQuestion(place, world, _searched_name(place, codes), code)
    return replace(asked_place, searched_lines=stated.lines_leading_to(asked_place.city, asked_place.is_named_in))


def _country_codes(place: ClaimedPlace) -> Iterator[str]:
    for area in place.areas:
        if isinstance(area, Countries):
            yield from area.codes


def _searched_name(place: ClaimedPlace, codes: Sequence[str]) -> str:
    """The name without its country; empty for an area without a name, and for several countries."""
    if place.kind == "area" or (place.kind == "country" and len(codes) > 1):
        return ""
    return place.place.split(" (")[0]
