"""Held out: everything a rollout needs is in its tool results, and its last turn makes the answer wrong, or right.

Written by somebody who had not read `tts.verify`. In `whim` a majority leaves what its tool found for an impression; in
`correction` a minority leaves its first hit for the sign that it had overlooked. In the other kinds everybody names the
same town and cites the same search, and a majority writes other coordinates than the tool gave: those of an earlier
guess (`stale`), latitude for longitude (`reversed`), or without a minus (`lost sign`).
"""

from __future__ import annotations

import random

from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Claim, Hypothesis
from tts.domain.trajectory import Trajectory
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.cast import Cast
from tts.eval.synthetic.rollout_events import RolloutWriter
from tts.eval.synthetic.rollout_kinds import belief, point_near
from tts.geodata.gazetteer import Place

_FAR_KM = 300.0
_MAX_LAT = 75.0
_GENERIC_NAMES = ("City Pharmacy", "Central Bakery", "Sunrise Hostel", "Market Hall", "Old Mill Inn")
_UNFOUNDED_REASONS = (
    "On reflection the roofs and the light look more like {town}. I revise my answer.",
    "Wait: the kerbs and the poles are typical of {town}. Final answer: {town}.",
    "Thinking about it again, the vegetation rules that out; it must be {town}.",
)


def last_turn(atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
    """One of five ways to lose, or to find, the right point in the last turn."""
    kind = rng.choice(("whim", "correction", "stale", "reversed", "lost sign"))
    truth, slipped = _slipped_town(atlas, rng, kind)
    wrong = atlas.plain_town(rng, away_from=truth)
    generic = rng.choice(_GENERIC_NAMES)
    page = atlas.page(rng, wrong).model_copy(update={"query": generic})
    right, crowd = (3, 2) if easy else (rng.randint(1, 2), rng.randint(3, 4))
    trajectories: list[Trajectory] = []
    for number in range(right + crowd):
        writer, good = RolloutWriter(), number < right
        if kind in ("correction", "stale"):
            first = writer.call("A name at last.", "web_search", {"query": generic}, [page])
            guess = _cited_hypothesis(atlas, rng, wrong, wrong.point, first)
            if kind == "correction" and not good:
                trajectories.append(writer.end(f"So this is {wrong.name}.", guess))
                continue
            writer.believe(f"For now: {wrong.name}.", guess)
        trajectories.append(
            _lookup_rollout(atlas, rng, writer, truth, None if good else slipped or wrong.point, kind, wrong)
        )
    return Cast(
        truth.point, trajectories, [truth.name, *([generic] if kind in ("correction", "stale") else [])], kind=kind
    )


def _lookup_rollout(
    atlas: Atlas,
    rng: random.Random,
    writer: RolloutWriter,
    truth: Place,
    slipped: LatLon | None,
    kind: str,
    wrong: Place,
) -> Trajectory:
    """Finds the town on the sign; ends there, or with `slipped` for its coordinates, or on a whim elsewhere."""
    facts = atlas.search(truth.name)
    call = writer.call(f"The sign reads “{truth.name}”.", "poi_keyword_search", {"query": truth.name}, facts)
    answer = _cited_hypothesis(atlas, rng, truth, truth.point, call)
    if slipped is None:
        return writer.end(f"{truth.name} it is.", answer)
    if kind == "whim":
        writer.believe(f"{truth.name}, then.", answer)
        text = rng.choice(_UNFOUNDED_REASONS).format(town=wrong.name)
        stated = point_near(rng, wrong.point, 4.0)
        revised = belief(atlas, wrong, stated, confidence=rng.uniform(0.8, 0.97), reasoning=text)
        return writer.end(text, revised)
    return writer.end(f"{truth.name} it is.", answer.model_copy(update={"point": slipped}))


def _cited_hypothesis(atlas: Atlas, rng: random.Random, town: Place, point: LatLon, call: str) -> Hypothesis:
    claim = Claim(text=f"the search finds {town.name}", call_id=call, quote=town.name)
    return belief(atlas, town, point, confidence=rng.uniform(0.6, 0.95), claims=[claim])


def _slipped_town(atlas: Atlas, rng: random.Random, kind: str) -> tuple[Place, LatLon | None]:
    """A town, and what becomes of its coordinates where the slip of this kind moves them far."""
    for _ in range(500):
        town = atlas.plain_town(rng)
        lat, lon = town.point.lat, town.point.lon
        slipped = None
        if kind == "reversed" and abs(lon) <= _MAX_LAT:
            slipped = LatLon(lat=lon, lon=lat)
        elif kind == "lost sign" and min(lat, lon) < 0:
            slipped = LatLon(lat=abs(lat), lon=lon) if lat < 0 else LatLon(lat=lat, lon=abs(lon))
        if kind not in ("reversed", "lost sign") or (slipped and distance_km(slipped, town.point) > _FAR_KM):
            return town, slipped
    raise ValueError(f"no town can be {kind}")
