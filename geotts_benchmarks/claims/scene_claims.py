"""Claims about a scene: true claims, nearly true claims, and claims that its signs cannot decide.

Which of them a scene determines is read off its own words by public tables, not by the engine: one that names its town
determines the town; one whose words stand in a single country determines the country. A town of the right country on a
scene that names none, and a country among several that the words allow, are undecidable.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from tts.domain.geo import distance_km
from tts.eval.scenes.ambiguity import common, countries_by_wording
from tts.eval.scenes.generate import Scene
from tts.eval.scenes.towns import Town, neighbours, towns_of
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer

ClaimFamily = Literal["true", "neighbour", "namesake", "wrong_region", "wrong_country", "undecidable"]
CLAIM_FAMILIES: tuple[ClaimFamily, ...] = get_args(ClaimFamily)
_NEIGHBOUR_KM = (15.0, 150.0)
_NAMESAKE_KM = 150.0


@dataclass(frozen=True, slots=True)
class ClaimCase:
    """A claim in words, and whether it is `true`: known for undecidable ones, too, though no sign tells."""

    words: str
    family: ClaimFamily
    true: bool


def claims_about(scene: Scene, gazetteer: Gazetteer, countries: Countries) -> list[ClaimCase]:
    """All claims of a scene, the same for the same scene."""
    rng = random.Random(f"claims/{scene.seed}")
    if _names_town(scene):
        return [*_claims_of_town(scene, rng, gazetteer, countries)]
    return [*_claims_of_country(scene, rng, countries)]


def _names_town(scene: Scene) -> bool:
    return any(panel.clue == "town" for panel in (*scene.panels, *scene.farther))


def _claims_of_town(
    scene: Scene, rng: random.Random, gazetteer: Gazetteer, countries: Countries
) -> Iterator[ClaimCase]:
    town, country = scene.town, countries.name(scene.town.country)
    if not any(panel.clue == "town" for panel in scene.panels):
        return  # only a sign down the street names it: whether that can be read is the engine's luck
    yield ClaimCase(f"{town.latin}, {country}", "true", true=True)
    near = [
        other for other, km in neighbours(town, scene.locale, count=8) if _NEIGHBOUR_KM[0] <= km <= _NEIGHBOUR_KM[1]
    ]
    if near:
        yield ClaimCase(f"{near[0].latin}, {country}", "neighbour", true=False)
    for match in gazetteer.search(town.latin, kinds=("city",), limit=24, fuzzy=False):
        place = match.place
        if place.country_code != town.country and distance_km(place.point, town.point) > _NAMESAKE_KM:
            yield ClaimCase(f"{place.name}, {countries.name(place.country_code)}", "namesake", true=False)
            break
    yield from _wrong_region(town, rng, scene, gazetteer, country)
    yield from _wrong_country(scene, rng, countries)


def _wrong_region(
    town: Town, rng: random.Random, scene: Scene, gazetteer: Gazetteer, country: str
) -> Iterator[ClaimCase]:
    """Another division of the country, by the division of one of its towns."""
    own = gazetteer.get(town.id)
    others = [gazetteer.get(other.id) for other in towns_of(scene.locale)]
    names = sorted(
        {other.admin1 for other in others if other is not None and own and other.admin1 != own.admin1} - {""}
    )
    if names:
        yield ClaimCase(f"{rng.choice(names)}, {country}", "wrong_region", true=False)


def _claims_of_country(scene: Scene, rng: random.Random, countries: Countries) -> Iterator[ClaimCase]:
    home, country = scene.locale.country, countries.name(scene.locale.country)
    if scene.determined:
        yield ClaimCase(country, "true", true=True)
        yield from _wrong_country(scene, rng, countries)
    else:
        allowed = sorted(common(tuple(fact for panel in (*scene.panels, *scene.farther) for fact in panel.facts)))
        if len(allowed) > 1:
            code = rng.choice(allowed)
            yield ClaimCase(countries.name(code), "undecidable", true=code == home)
    towns = towns_of(scene.locale)
    claimed = scene.town if rng.random() < 0.5 else rng.choice(towns)
    yield ClaimCase(f"{claimed.latin}, {country}", "undecidable", true=claimed.id == scene.town.id)


def _wrong_country(scene: Scene, rng: random.Random, countries: Countries) -> Iterator[ClaimCase]:
    """One that writes the same language where there is one, else a neighbour, else any."""
    home = countries.get(scene.locale.country)
    facts = common(tuple(fact for panel in scene.panels for fact in panel.facts))
    same = sorted(countries_by_wording(scene.locale.language) - {scene.locale.country} - facts)
    near = sorted(set(home.neighbours if home is not None else ()) - facts)
    every = same or [code for code in near if countries.get(code)] or sorted(set(countries.codes) - facts)
    yield ClaimCase(countries.name(rng.choice(every)), "wrong_country", true=False)
