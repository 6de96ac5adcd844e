"""Ledgers for a point that the verifier model has made itself, and that no rollout has.

A ledger checks the point of its rollout: how far what was found lies from it, which country it is in. If the answer
is another point, these statements are about the wrong place. This module makes them again for the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from tts.decision_weights import weights
from tts.domain.geo import LatLon, distance_km
from tts.domain.reading import Reading
from tts.domain.trajectory import Trajectory
from tts.verify.evidence.ledger import RolloutLedger
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.world import World
from tts.verify.model.adjudication import Adjudication

_SAME_POINT_KM = weights("verdict")["own_point_km"]


def own_point(adjudication: Adjudication) -> LatLon | None:
    """The point of the model's own, where it is another place than that of the candidate it rests on."""
    if adjudication.point is None or adjudication.chosen is None or adjudication.chosen.hypothesis.point is None:
        return None
    away_km = distance_km(adjudication.point, adjudication.chosen.hypothesis.point)
    return adjudication.point if away_km > _SAME_POINT_KM else None


def ledgers_at(
    point: LatLon,
    adjudication: Adjudication,
    trajectories: Sequence[Trajectory],
    readings: Sequence[Reading],
    world: World,
    hint: str | None = None,
) -> dict[int, RolloutLedger]:
    """The ledger of each rollout with `point` in the place of its own, under the names that the model gave. Without a
    country of its own, that of the rollout stands, and the ledger says whether the point lies in it."""
    names = {"region": "", "city": adjudication.city, "place": ""}
    if adjudication.country:
        known = world.countries.find(adjudication.country)
        names |= {"country": adjudication.country, "country_code": "" if known is None else known.code}
    ledgers: dict[int, RolloutLedger] = {}
    for trajectory in trajectories:
        if trajectory.best is not None:
            moved = trajectory.best.model_copy(update={"point": point, **names})
            ledger = build_ledger(trajectory.model_copy(update={"answer": moved}), readings, world, hint)
            assert ledger is not None
            ledgers[trajectory.rollout_id] = ledger
    return ledgers
