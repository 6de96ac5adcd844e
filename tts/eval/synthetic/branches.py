"""A family: a majority follows the large name on a sign to the wrong country; the small print shows the right place.

Written by somebody who had not read `tts.verify`, which decided 85 % of these rightly until it learned about small
print. Both sides cite tools. Results of the majority bear the name but not the telephone number, domain or street
that the photo shows; results of the minority bear both, twice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tts.domain.geo import distance_km
from tts.domain.hypothesis import Claim
from tts.domain.tooling import PlaceFact, WebFact
from tts.domain.trajectory import Trajectory
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.businesses import business
from tts.eval.synthetic.cast import Cast
from tts.eval.synthetic.rollout_events import RolloutWriter
from tts.eval.synthetic.rollout_kinds import belief, point_near
from tts.geodata.gazetteer import Place
from tts.geodata.names import normalise

_CHAIN_SHOPS = (
    "Panda Market",
    "Café Aurora",
    "Salon Bella",
    "Delta Motors",
    "Vista Optik",
    "Kebab King",
    "Foto Express",
)
_STREET_NAMES = ("Linden Avenue", "Harbour Road", "Mill Lane", "Castle Street", "Garden Road", "Bridge Street")
_MAX_TRIES = 3000
_FAR_KM = 300.0


@dataclass(frozen=True, slots=True)
class Branch:
    """A shop, and the line of small print that only its own sign bears."""

    name: str
    town: Place
    street: str
    small_print: str

    def branch_in(self, town: Place, rng: random.Random) -> Branch:
        """Another branch of the chain, with a street of its own for small print."""
        street = f"{rng.choice(_STREET_NAMES)} {rng.randrange(400, 800)}"
        return Branch(self.name, town, street, street)

    @property
    def address(self) -> str:
        """Street, town and the line of small print."""
        return ", ".join(dict.fromkeys((self.street, self.town.name, self.small_print)))


def wrong_branch(atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
    """A chain has branches in two countries, or a misread letter turns one town into another."""
    kind = rng.choice(("country line", "street line", "misread"))
    ours, theirs = _misread_towns(atlas, rng) if kind == "misread" else chain(atlas, rng, kind)
    size = 2 if easy else rng.randint(1, 2)
    if size == 1:
        right = [
            _grounded_rollout(atlas, rng, ours, "Map and page agree with the small print.", _web_lookup, _map_lookup)
        ]
    else:
        right = [
            _grounded_rollout(atlas, rng, ours, "The small print fits this one.", _map_lookup),
            _grounded_rollout(atlas, rng, ours, "This page has the very line.", _web_lookup),
        ]
    crowd = [_hasty_rollout(atlas, rng, theirs, ours) for _ in range(1 if easy else rng.randint(3, 4))]
    seen = theirs.name if kind == "misread" and rng.random() < 0.5 else ours.name  # perception misreads it too
    return Cast(ours.town.point, [*right, *crowd], [seen, ours.small_print], kind=kind)


def chain(atlas: Atlas, rng: random.Random, kind: str) -> tuple[Branch, Branch]:
    """Two branches in two countries; with the kind `street line` their streets are the small print."""
    name = rng.choice(_CHAIN_SHOPS)
    streets = [f"{street} {rng.randrange(3, 400)}" for street in rng.sample(_STREET_NAMES, 2)]
    for _ in range(_MAX_TRIES):
        ours = atlas.plain_town(rng)
        theirs = atlas.plain_town(rng, away_from=ours)
        lines = [atlas.second_line(rng, town.country_code) for town in (ours, theirs)]
        if kind == "street line":
            lines = streets
        if all(lines) and lines[0] != lines[1]:
            return Branch(name, ours, streets[0], lines[0]), Branch(name, theirs, streets[1], lines[1])
    raise ValueError("no two countries have a second line")


def _misread_towns(atlas: Atlas, rng: random.Random) -> tuple[Branch, Branch]:
    """Two towns in two countries whose names differ by a letter or two; each sign has a line of its country."""
    for _ in range(_MAX_TRIES):
        town = atlas.plain_town(rng)
        alike = [
            match.place
            for match in atlas.gazetteer.search(town.name, kinds=["city"], limit=20, min_score=0.75)
            if match.primary
            and match.place.country_code != town.country_code
            and normalise(match.place.name) != normalise(town.name)
            and distance_km(match.place.point, town.point) > _FAR_KM
            and atlas.search(match.place.name, limit=1)[0].id == match.place.id
        ]
        lines = [atlas.second_line(rng, place.country_code) for place in (town, *alike[:1])]
        if alike and all(lines) and lines[0] != lines[1]:
            signs = zip((town, alike[0]), rng.sample(_STREET_NAMES, 2), lines, strict=True)
            ours, theirs = (Branch(place.name, place, f"{street} 1", line) for place, street, line in signs)
            return ours, theirs
    raise ValueError("no town is easily misread")


def _hasty_rollout(atlas: Atlas, rng: random.Random, theirs: Branch, ours: Branch) -> Trajectory:
    """Reads the big name only, and takes what a search for it lists first."""
    writer = RolloutWriter()
    listed = [theirs] if theirs.name != ours.name else [theirs, ours]
    query = theirs.name
    facts: Sequence[PlaceFact | WebFact]
    if rng.random() < 0.6:
        tool, facts = "poi_keyword_search", [place_of(branch) for branch in listed]
    else:
        tool, query = "web_search", f"{query} {rng.choice(('address', 'opening hours', 'map', 'town'))}"
        facts = [page_of(branch, i + 1, query) for i, branch in enumerate(listed)]
    call = writer.call(f"The sign clearly says “{theirs.name}”.", tool, {"query": query}, facts)
    reason = f"the sign says {theirs.name}, which is in {atlas.countries.name(theirs.town.country_code)}"
    claims = [Claim(text=reason, call_id=call, quote=theirs.name)]
    answer = belief(
        atlas, theirs.town, point_near(rng, theirs.town.point, 1.0), confidence=rng.uniform(0.8, 0.98), claims=claims
    )
    return writer.end(f"{theirs.name} is in {theirs.town.name}. No doubt.", answer)


def _grounded_rollout(
    atlas: Atlas, rng: random.Random, ours: Branch, words: str, *lookups: Callable[[RolloutWriter, Branch], Claim]
) -> Trajectory:
    """Looks the branch up in so many ways, and ends with these words."""
    writer = RolloutWriter()
    claims = [lookup(writer, ours) for lookup in lookups]
    answer = belief(atlas, ours.town, ours.town.point, confidence=rng.uniform(0.4, 0.75), claims=claims)
    return writer.end(words, answer)


def _map_lookup(writer: RolloutWriter, ours: Branch) -> Claim:
    arguments = {"query": ours.name, "country": ours.town.country_code}
    call = writer.call(f"It also says “{ours.small_print}”.", "poi_keyword_search", {**arguments}, [place_of(ours)])
    return Claim(text=f"{ours.name} at {ours.address} is on the map", call_id=call, quote=ours.small_print)


def _web_lookup(writer: RolloutWriter, ours: Branch) -> Claim:
    call = search_both_lines(writer, ours)
    return Claim(text=f"a page of {ours.town.name} gives “{ours.small_print}”", call_id=call, quote=ours.small_print)


def search_both_lines(writer: RolloutWriter, branch: Branch) -> str:
    """A turn that finds the page of a branch by its name and its small print; gives the id of the call."""
    query = f"{branch.name} {branch.small_print}"
    return writer.call("Let me search for both lines.", "web_search", {"query": query}, [page_of(branch, 1, query)])


def place_of(branch: Branch) -> PlaceFact:
    """A branch as a search for places states it."""
    return business(f"poi:{branch.town.id}", branch.name, branch.town, address=branch.address, score=0.9)


def page_of(branch: Branch, number: int, query: str) -> WebFact:
    """The page of a branch as a search hit."""
    slug = "-".join(normalise(f"{branch.name} {branch.town.name}").split())
    return WebFact(
        number=number,
        title=f"{branch.name} – {branch.town.admin1 or branch.town.name}",
        snippet=f"{branch.name}, {branch.address}. Open daily 9–18.",
        url=f"https://example.org/{slug}",
        query=query,
        source="made up",
    )
