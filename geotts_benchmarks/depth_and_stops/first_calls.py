"""`geotts bench depth --part first_calls`: what siblings have in common when they begin, with and without directions.

Two engines, the same photos and seeds in pairs: a made-up model that follows the direction it is given
(`geotts_benchmarks.depth_and_stops.inquiring_rollouts`), and the embedded engine on drawn scenes. Every rollout runs
to its end.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import numpy as np

from deployments.config import AppArgs
from geotts_benchmarks.accuracy.photos import locate_all
from geotts_benchmarks.depth_and_stops.inquiring_rollouts import Enquirer, Street
from geotts_benchmarks.depth_and_stops.searching_rollouts import SearchingRollouts
from geotts_benchmarks.harness import Result, print_progress
from tts.aio import closing
from tts.domain.abilities import Abilities
from tts.domain.geo import TABLE_KM, Floats, distance_km
from tts.domain.identity import Identity
from tts.domain.kind_of_n import KindOfN
from tts.domain.photo import Photo
from tts.domain.plan import Depth, Limits
from tts.domain.request import LocateOptions, LocateRequest, new_request_id
from tts.domain.stop_settings import WatchSettings
from tts.domain.trajectory import Run, fold
from tts.eval.metrics.intervals import Interval, bootstrap_ratio, paired_difference, paired_ratio_difference
from tts.eval.metrics.shared_calls import shared_calls
from tts.eval.runs.record import Record
from tts.eval.scenes.generate import SceneMaker
from tts.pipeline import solve
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment
from tts.routing.depth_router import DepthRouter
from tts.routing.locatability import FixedLocator
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import ConsensusVerifier

_N = 8
_SCENE_SEED = 21  # development scenes; the shipped calibrations are fitted on those of seeds 11 and 12
_DIVERSE_VALUES = (False, True)


def measure_first_calls(world: World, *, quick: bool) -> Result:
    """Of eight rollouts, `scripted` over 400 made-up photos and `embedded` over 60 scenes; a tenth or fifth if
    `quick`. Shares in percent. Differences are with minus without, each with its 95 % interval, paired over photos:
    `accuracy_difference` (mean of 1 to 750 km) and `shared_difference` in points, `calls_difference` in calls.
    """
    scripted = asyncio.run(_measure_scripted(world, 40 if quick else 400))
    embedded = asyncio.run(_measure_embedded(12 if quick else 60))
    kind = f"{KindOfN.ONE_POLICY}, {_N} a photo: scripted, and of the embedded engine"
    return {"kind_of_n": {"first_calls": kind}, "first_calls": {"scripted": scripted, "embedded": embedded}}


async def _measure_scripted(world: World, count: int) -> Result:
    verifier, rng = ConsensusVerifier(world, shipped_calibration("openai")), random.Random(49)
    streets = [Street.draw(rng) for _ in range(count)]
    runs = [[await _run_of(street, verifier, diverse=diverse) for street in streets] for diverse in _DIVERSE_VALUES]
    hits = [[_hit_share(run, street) for run, street in zip(part, streets, strict=True)] for part in runs]
    return _compare_ways("scripted", runs, hits)


async def _run_of(street: Street, verifier: ConsensusVerifier, *, diverse: bool) -> Run:
    photo = Photo(data=b"", sha256="0" * 64, source_sha256="0" * 64, width=64, height=64)
    identity = Identity(version="0", engine="scripted", model="enquirer", dialect="generic", verifier="consensus")
    router = DepthRouter(Limits(), Abilities(sees_pictures=True))
    watch = WatchSettings(stop="none", leader=True, diverse_first_calls=diverse)
    rollouts = SearchingRollouts(Enquirer(street), "looked up")
    ports = Ports(FixedLocator(0.5), router, rollouts, verifier, identity, watch)
    options = LocateOptions(n_parallel=_N, depth=Depth.DEEP, seed=1)
    run = Run()
    async with closing(solve(LocateRequest(new_request_id(), (photo,), options), ports, deadline_s=60.0)) as items:
        async for item in items:
            if not isinstance(item, Attachment):
                run = fold([item], run)
    return run


def _hit_share(run: Run, street: Street) -> float:
    point = run.answer.point if run.answer is not None else None
    return _share_of_thresholds(None if point is None else distance_km(point, street.truth), 0.0)


async def _measure_embedded(count: int) -> Result:
    samples = SceneMaker(seed=_SCENE_SEED, split="dev", street=True).samples(count)
    runs, hits = [], []
    for diverse in _DIVERSE_VALUES:
        asked = {"diverse_first_calls": diverse}
        records = (await locate_all(AppArgs(), samples, (_N,), "first-calls", None, asked))[_N]
        runs.append([record.run or Run() for record in records])
        hits.append([_record_hits(record) for record in records])
    return _compare_ways("embedded", runs, hits)


def _record_hits(record: Record) -> float:
    point = record.answer.point if record.answer is not None else None
    error_km = None if point is None else distance_km(point, record.truth.point)
    return _share_of_thresholds(error_km, record.truth.slack_km)


def _share_of_thresholds(error_km: float | None, slack_km: float) -> float:
    """The share of the thresholds within which an answer is right, 0 to 1; 0 for none."""
    if error_km is None:
        return 0.0
    return sum(error_km < max(threshold, slack_km) for threshold in TABLE_KM) / len(TABLE_KM)


def _compare_ways(engine: str, runs: Sequence[Sequence[Run]], hits: Sequence[Sequence[float]]) -> Result:
    counts = [_count_calls(part) for part in runs]
    shared = [_to_percent(bootstrap_ratio(*each)) for each in counts]
    accuracy = [100.0 * np.array(part, dtype=np.float64) for part in hits]
    difference = paired_difference(accuracy[0], accuracy[1])
    print_progress(f"{engine}: {shared[0]} % of the first calls shared, {shared[1]} % with different first calls")
    return {
        "photos": len(hits[0]),
        "shared_without": _round_interval(shared[0]),
        "shared_with": _round_interval(shared[1]),
        "shared_difference": _round_interval(_to_percent(paired_ratio_difference(*counts))),
        "calls_without": round(float(counts[0][1].mean()), 2),
        "calls_with": round(float(counts[1][1].mean()), 2),
        "calls_difference": _round_interval(paired_difference(counts[0][1], counts[1][1])),
        "accuracy_without": round(float(accuracy[0].mean()), 2),
        "accuracy_with": round(float(accuracy[1].mean()), 2),
        "accuracy_difference": _round_interval(difference),
    }


def _count_calls(runs: Sequence[Run]) -> tuple[Floats, Floats]:
    """Of each run, how many first calls are shared and how many there are."""
    pairs: Floats = np.array([shared_calls(run.trajectories) for run in runs], dtype=np.float64)
    return pairs[:, 0], pairs[:, 1]


def _to_percent(share: Interval) -> Interval:
    return Interval(value=100.0 * share.value, low=100.0 * share.low, high=100.0 * share.high)


def _round_interval(interval: Interval) -> list[float]:
    return [round(number, 2) for number in (interval.value, interval.low, interval.high)]
