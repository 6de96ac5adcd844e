"""One photo as a method card counts it, from a run file or from a folder of published logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tts.domain.answer import Radius
from tts.domain.geo import CITY_KM, LatLon, distance_km
from tts.domain.trajectory import Trajectory
from tts.domain.value import Value
from tts.eval.labelled_cases import LabelledCase, cases_of
from tts.eval.runs.kind_of_n import RolloutsOfAnswer, rollouts_of
from tts.eval.runs.record import Record, read_records
from tts.verify.consensus.calibration import Calibration
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge

CONTINENTS = {
    "AF": "Africa", "AN": "Antarctica", "AS": "Asia", "EU": "Europe", "NA": "North America", "OC": "Oceania",
    "SA": "South America",
}  # fmt: skip
_NO_COUNTRY = "no country"
_LOGS_TARGET_KM = CITY_KM


class AnsweredPoint(Value):
    """What an answer with a point says, and how far off it is. Distances in km; `right`: within the wanted radius. An
    answer no farther off than `slack_km`, how exactly the truth is known, is within every distance."""

    error_km: float
    slack_km: float = 0.0
    right: bool
    confidence: float
    in_radius50: bool | None = None
    in_radius90: bool | None = None
    radius90_km: float | None = None


class Cost(Value):
    """What one answer used."""

    tokens: int
    seconds: float
    usd: float


class RolloutCost(Value):
    """What one rollout of a mixture used, and its model."""

    model: str
    tokens: int
    usd: float


class CardRow(Value):
    """One photo. `tags` are those of its data set.

    `answered` is None for an abstention. `target_km` is the wanted radius, `cost` None if unknown. `rollouts` is None
    if the request failed, or ran none. `models` are those whose rollouts agree with the answer, `rollout_costs` what
    each rollout used; both are empty unless the rollouts are of several models.
    """

    continent: str
    target_km: float
    tags: tuple[str, ...] = ()
    failed: bool = False
    answered: AnsweredPoint | None = None
    cost: Cost | None = None
    rollouts: RolloutsOfAnswer | None = None
    models: tuple[str, ...] = ()
    rollout_costs: tuple[RolloutCost, ...] = ()


def card_rows(source: Path, world: World, calibration: Calibration) -> list[CardRow]:
    """Rows of a run file, or of a folder of logs, whose answers the consensus then gives with `calibration`.

    Raises:
        DataError: when the source is neither, or holds nothing.
    """
    if source.is_dir():
        return [_row_from_case(case, world, calibration) for case in cases_of(source)]
    return rows_of_records(read_records(source), world)


def rows_of_records(records: Sequence[Record], world: World) -> list[CardRow]:
    """Rows of recorded requests; a failure is neither an answer nor an abstention."""
    return [_row_from_record(record, world) for record in records]


def _row_from_record(record: Record, world: World) -> CardRow:
    truth, target_km = record.truth, record.options.target_radius_km
    row = CardRow(
        continent=_continent(truth.point, world), target_km=target_km, tags=record.tags, failed=bool(record.failure)
    )
    answer = record.answer
    if row.failed or answer is None:
        return row.model_copy(update={"failed": True})
    usage = answer.usage
    row = row.model_copy(
        update={
            "rollouts": rollouts_of([one.source for one in answer.rollouts]),
            "rollout_costs": _rollout_costs(record.run.trajectories if record.run is not None else ()),
        }
    )
    cost = Cost(tokens=usage.prompt_tokens + usage.completion_tokens, seconds=record.elapsed_s, usd=usage.cost_usd)
    if answer.point is None:
        return row.model_copy(update={"cost": cost})
    error_km = distance_km(answer.point, truth.point)
    answered = _answered_point(error_km, answer.radius_km, answer.confidence, target_km, truth.slack_km)
    agreeing = answer.candidates[0].rollouts if answer.candidates else ()
    models = _models({one.rollout_id: one.source for one in answer.rollouts}, agreeing)
    return row.model_copy(update={"answered": answered, "cost": cost, "models": models})


def _rollout_costs(trajectories: Sequence[Trajectory]) -> tuple[RolloutCost, ...]:
    if not _are_of_several_models([trajectory.source for trajectory in trajectories]):
        return ()
    return tuple(
        RolloutCost(
            model=one.source, tokens=one.usage.prompt_tokens + one.usage.completion_tokens, usd=one.usage.cost_usd
        )
        for one in trajectories
    )


def _row_from_case(case: LabelledCase, world: World, calibration: Calibration) -> CardRow:
    rollouts = rollouts_of([str(number) for number in range(len(case.trajectories))])  # one log each
    row = CardRow(continent=_continent(case.truth, world), target_km=_LOGS_TARGET_KM, rollouts=rollouts)
    verdict = judge(case.trajectories, case.readings, world)
    if not verdict.clusters or verdict.spread is None:
        return row
    error_km, radius = distance_km(verdict.clusters[0].centre, case.truth), calibration.radius(verdict.spread)
    confidence = calibration.probability_within(verdict.spread, _LOGS_TARGET_KM)
    answered = _answered_point(error_km, radius, confidence, _LOGS_TARGET_KM)
    models = _models({one.rollout_id: one.source for one in case.trajectories}, verdict.clusters[0].rollouts)
    return row.model_copy(update={"answered": answered, "models": models})


def _answered_point(
    error_km: float, radius: Radius | None, confidence: float, target_km: float, slack_km: float = 0.0
) -> AnsweredPoint:
    return AnsweredPoint(
        error_km=error_km,
        slack_km=slack_km,
        right=error_km < max(target_km, slack_km),
        confidence=confidence,
        in_radius50=None if radius is None else error_km <= max(radius.p50, slack_km),
        in_radius90=None if radius is None else error_km <= max(radius.p90, slack_km),
        radius90_km=None if radius is None else radius.p90,
    )


def _models(sources: Mapping[int, str], agreeing: Iterable[int]) -> tuple[str, ...]:
    """The models of the rollouts that agree with an answer; none unless the rollouts are of several."""
    if not _are_of_several_models(sources.values()):
        return ()
    return tuple(sorted({sources[rollout_id] for rollout_id in agreeing if rollout_id in sources} - {""}))


def _are_of_several_models(sources: Iterable[str]) -> bool:
    return len(set(sources)) > 1


def _continent(point: LatLon, world: World) -> str:
    country = world.countries.country_at(point)
    return _NO_COUNTRY if country is None else CONTINENTS.get(country.continent, _NO_COUNTRY)
