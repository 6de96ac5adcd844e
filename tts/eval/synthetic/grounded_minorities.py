"""Families in which a minority has evidence and a majority has none, or has all of it from one place."""

from __future__ import annotations

import random

from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.businesses import business
from tts.eval.synthetic.cast import Cast
from tts.eval.synthetic.rollout_kinds import echoer, follower, guesser, reader, searcher

_GENERIC_NAMES = ("Hotel Central", "Santa Maria", "Grand Bazaar", "Old Town Grill", "Riverside Garage", "Station Road")


def grounded_minority(atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
    """One or two rollouts found the name on a sign; more of them are sure of another country and looked nothing up."""
    truth = atlas.town(rng)
    wrong = atlas.town(rng, away_from=truth)
    shown = rng.random() < 0.7
    right = [searcher(atlas, rng, truth)]
    if easy or rng.random() < 0.4:
        right.append(reader(atlas, rng, truth))
    crowd = [guesser(atlas, rng, wrong) for _ in range(len(right) - 1 if easy else rng.randint(2, 4))]
    return Cast(truth.point, [*right, *crowd], [truth.name] if shown else [], kind="sign" if shown else "no text")


def echo_chamber(atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
    """A majority asked the tools about its own guess, which proves nothing; a minority looked up what it read."""
    truth = atlas.town(rng)
    wrong = atlas.town(rng, away_from=truth)
    right = [searcher(atlas, rng, truth)] + ([reader(atlas, rng, truth)] if easy else [])
    crowd = [echoer(atlas, rng, wrong) for _ in range(1 if easy else rng.randint(2, 4))]
    return Cast(truth.point, [*right, *crowd], [truth.name], kind="reverse geocode")


def phantom_tool_use(atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
    """A majority says that it looked at maps and did not; a minority says plainly what it saw, and nothing more."""
    truth = atlas.town(rng)
    wrong = atlas.town(rng, away_from=truth)
    right = [guesser(atlas, rng, truth) for _ in range(3 if easy else 2)]
    crowd = [guesser(atlas, rng, wrong, phantom=True) for _ in range(2 if easy else rng.randint(3, 4))]
    return Cast(truth.point, [*right, *crowd], [], kind="unsupported")


def copied_witness(atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
    """A majority cites one and the same wrong result; fewer rollouts have the right place from two sources."""
    truth = atlas.town(rng)
    wrong = atlas.town(rng, away_from=truth)
    by_page = rng.random() < 0.5
    query = rng.choice(_GENERIC_NAMES)
    namesake = business(f"poi:{wrong.id}", f"{query}, {wrong.name}", wrong)
    facts = [atlas.page(rng, wrong).model_copy(update={"query": query})] if by_page else [namesake]
    right = [searcher(atlas, rng, truth), reader(atlas, rng, truth)]
    copies = 1 if easy else rng.randint(3, 5)
    crowd = [follower(atlas, rng, wrong, query, facts) for _ in range(copies)]
    return Cast(truth.point, [*right, *crowd], [truth.name, query], kind="page" if by_page else "place")


def half_right(atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
    """A majority has the right country and the wrong city, unsupported or by echo; a minority has the city."""
    truth = atlas.town(rng, country=rng.choice([code for code, towns in atlas.towns.items() if len(towns) >= 4]))
    others = sorted(
        atlas.towns[truth.country_code],
        key=lambda town: abs(town.point.lat - truth.point.lat) + abs(town.point.lon - truth.point.lon),
    )
    wrong = others[-1]
    right = [searcher(atlas, rng, truth)]
    if easy or rng.random() < 0.5:
        right.append(reader(atlas, rng, truth))
    authors = (guesser, echoer)
    crowd = [rng.choice(authors)(atlas, rng, wrong) for _ in range(1 if easy else rng.randint(2, 3))]
    return Cast(truth.point, [*right, *crowd], [truth.name], kind="right country")
