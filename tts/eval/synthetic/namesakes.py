"""The first family that the verifier was never built with: namesakes.

It was written when the weights of `tts.verify` were done, and they are not changed in the light of its results: whoever
changes them has to write another one. A sign gives the name of a town that exists in two countries, and a second line
tells which, by a telephone number or a web domain. A majority takes the first hit; the others read both lines.
"""

from __future__ import annotations

import random

from tts.domain.hypothesis import Claim
from tts.domain.trajectory import Trajectory
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.cast import Cast
from tts.eval.synthetic.rollout_events import RolloutWriter
from tts.eval.synthetic.rollout_kinds import belief, point_near
from tts.geodata.gazetteer import Place
from tts.geodata.place_facts import place_fact


def namesakes(atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
    """Both sides cite a tool; only one of them fits everything that can be read."""
    truth, other, second_line = _namesake_pair(atlas, rng)
    right = [_careful_rollout(atlas, rng, truth, second_line) for _ in range(3 if easy else rng.randint(1, 2))]
    crowd = [_hasty_rollout(atlas, rng, other) for _ in range(2 if easy else rng.randint(3, 5))]
    return Cast(truth.point, [*right, *crowd], [truth.name, second_line], kind="namesake")


def _namesake_pair(atlas: Atlas, rng: random.Random) -> tuple[Place, Place, str]:
    """A town, its namesake in another country, and a line that tells the countries apart."""
    for _ in range(2000):
        town = atlas.town(rng)
        namesakes = [
            match.place
            for match in atlas.gazetteer.search(town.name, kinds=["city"], limit=8, fuzzy=False)
            if match.place.country_code != town.country_code
        ]
        line = atlas.second_line(rng, town.country_code)
        if namesakes and line:
            return town, namesakes[0], line
    raise ValueError("no town has a namesake abroad")


def _hasty_rollout(atlas: Atlas, rng: random.Random, town: Place) -> Trajectory:
    writer = RolloutWriter()
    facts = atlas.search(town.name)
    call = writer.call(f"The sign says {town.name}.", "poi_keyword_search", {"query": town.name}, facts)
    claim = Claim(text=f"a sign names {town.name}", call_id=call, quote=town.name)
    answer = belief(atlas, town, point_near(rng, town.point, 1.0), confidence=rng.uniform(0.8, 0.98), claims=[claim])
    return writer.end(f"The search finds {town.name}, {atlas.countries.name(town.country_code)}.", answer)


def _careful_rollout(atlas: Atlas, rng: random.Random, town: Place, second_line: str) -> Trajectory:
    writer = RolloutWriter()
    code = town.country_code
    facts = [place_fact(m.place, m.score) for m in atlas.gazetteer.search(town.name, countries=[code], limit=5)]
    arguments = {"query": town.name, "country": code}
    call = writer.call(f"“{second_line}” belongs to {code}.", "poi_keyword_search", {**arguments}, facts)
    claims = [
        Claim(text=f"a sign names {town.name}", call_id=call, quote=town.name),
        Claim(text="the second line tells the country", quote=second_line),
    ]
    answer = belief(atlas, town, town.point, confidence=rng.uniform(0.5, 0.8), claims=claims)
    return writer.end(f"{town.name} in {atlas.countries.name(code)}.", answer)
