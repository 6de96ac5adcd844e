"""The kinds of rollouts in scenarios: some rest on results of tools, some only sound sure."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tts.domain.geo import LatLon, destination
from tts.domain.hypothesis import Claim, Hypothesis
from tts.domain.tooling import CountryFact, Fact, PlaceFact, WebFact
from tts.domain.trajectory import Trajectory
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.rollout_events import RolloutWriter
from tts.geodata.gazetteer import Place

_CONFIDENT_TEXTS = (
    "The roofs, the light and the vegetation leave little doubt: this is {town}.",
    "I am certain. The paving and the lamp posts are those of {town}.",
    "Everything here, from the facades to the kerbs, is typical of {town}.",
    "This can only be {town}; I know this square well.",
)
_PHANTOM_TEXTS = (
    "The satellite view confirms it: {town}.",
    "I checked Google Maps and the street pattern matches {town}.",
    "Street View shows the same corner in {town}.",
    "According to a web search this is in {town}.",
)


def belief(
    atlas: Atlas, town: Place, point: LatLon, *, confidence: float, claims: Sequence[Claim] = (), reasoning: str = ""
) -> Hypothesis:
    """A statement that the photo shows a town."""
    return Hypothesis(
        point=point,
        country=atlas.countries.name(town.country_code),
        country_code=town.country_code,
        region=town.admin1,
        city=town.name,
        confidence=round(confidence, 2),
        claims=tuple(claims),
        reasoning=reasoning,
    )


def searcher(atlas: Atlas, rng: random.Random, town: Place) -> Trajectory:
    """Reads a name, looks it up, takes the town that was found, and cites it."""
    writer = RolloutWriter()
    facts = atlas.search(town.name)
    call = writer.call(f"A sign reads “{town.name}”.", "poi_keyword_search", {"query": town.name}, facts)
    claim = Claim(text=f"a sign names {town.name}", call_id=call, quote=town.name)
    return writer.end(
        f"{town.name} it is.", belief(atlas, town, town.point, confidence=rng.uniform(0.3, 0.7), claims=[claim])
    )


def reader(atlas: Atlas, rng: random.Random, town: Place, *, page: WebFact | None = None) -> Trajectory:
    """Searches the web and follows a page that names the town."""
    writer = RolloutWriter()
    found = page or atlas.page(rng, town)
    call = writer.call("Let me look this up.", "web_search", {"query": found.query}, [found])
    claim = Claim(text=f"a page about {town.name} fits", call_id=call, quote=town.name)
    answer = belief(atlas, town, point_near(rng, town.point, 5.0), confidence=rng.uniform(0.3, 0.7), claims=[claim])
    return writer.end(f"The page is about {town.name}.", answer)


def follower(atlas: Atlas, rng: random.Random, town: Place, query: str, facts: Sequence[Fact]) -> Trajectory:
    """Takes what a search returned for a wall of generic text, because others would too."""
    writer = RolloutWriter()
    name = "web_search" if isinstance(facts[0], WebFact) else "poi_keyword_search"
    call = writer.call(f"Searching for “{query}”.", name, {"query": query}, facts)
    stated = facts[0].point if isinstance(facts[0], PlaceFact) and facts[0].point is not None else town.point
    claim = Claim(text=f"the search for {query} returns {town.name}", call_id=call, quote=town.name)
    answer = belief(atlas, town, stated, confidence=rng.uniform(0.6, 0.95), claims=[claim])
    return writer.end(f"The search says {town.name}.", answer)


def guesser(
    atlas: Atlas, rng: random.Random, town: Place, *, point: LatLon | None = None, phantom: bool = False
) -> Trajectory:
    """Sounds sure and has looked nothing up; with `phantom` it claims that it has."""
    text = rng.choice(_PHANTOM_TEXTS if phantom else _CONFIDENT_TEXTS).format(town=town.name)
    stated = point or point_near(rng, town.point, 6.0)
    return RolloutWriter().end(text, belief(atlas, town, stated, confidence=rng.uniform(0.75, 0.99), reasoning=text))


def echoer(atlas: Atlas, rng: random.Random, town: Place) -> Trajectory:
    """Guesses, asks the tools about its own guess, and takes their answer for proof."""
    writer = RolloutWriter()
    point = point_near(rng, town.point, 4.0)
    arguments = {"latitude": round(point.lat, 5), "longitude": round(point.lon, 5)}
    place = PlaceFact(
        id=town.id,
        name=town.name,
        place_kind="city",
        point=town.point,
        country_code=town.country_code,
        admin1=town.admin1,
        source="GeoNames (offline)",
    )
    call = writer.call(f"This must be {town.name}. Let me verify.", "reverse_geocode", {**arguments}, [place])
    name = atlas.countries.name(town.country_code)
    country = CountryFact(point=point, country_code=town.country_code, country=name, source="borders")
    writer.call("And the country?", "country_at", {**arguments}, [country])
    claim = Claim(text=f"the reverse geocode gives {town.name}", call_id=call, quote=town.name)
    return writer.end("Verified.", belief(atlas, town, point, confidence=rng.uniform(0.8, 0.99), claims=[claim]))


def point_near(rng: random.Random, point: LatLon, km: float) -> LatLon:
    """A point at most so many km away."""
    return destination(point, bearing_deg=rng.uniform(0, 360), distance_km=rng.uniform(0, km))
