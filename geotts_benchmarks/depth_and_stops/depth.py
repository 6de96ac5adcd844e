"""`geotts bench depth`: what is gained and lost by thinking less.

Recorded rollouts under every stop policy; a leader whose first turn decides; first calls that differ; one straggler
ten times slower; deadlines under load; and, on photos with the embedded engine, `depth=auto` against always deep.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import click

from deployments.cli.eval_run import choose_samples
from deployments.config import AppArgs
from deployments.wiring.local import local_ports
from deployments.wiring.parts import make_world
from geotts_benchmarks.accuracy.photos import bench_options
from geotts_benchmarks.depth_and_stops.depth_leader import measure_leading
from geotts_benchmarks.depth_and_stops.first_calls import measure_first_calls
from geotts_benchmarks.depth_and_stops.recorded_rollouts import KIND_OF_LOGS, recorded_photos
from geotts_benchmarks.depth_and_stops.stop_frontier import DEFAULT, Point, draw, frontier
from geotts_benchmarks.depth_and_stops.stop_policy_transfer import stopped_elsewhere
from geotts_benchmarks.harness import DEFAULT_LOGS, DEFAULT_PHOTOS, Result, percentile, print_progress, report
from tts.aio import closing
from tts.domain.answer import StopReason, Verdict
from tts.domain.events import Hypothesised, RolloutFinished, RolloutStarted
from tts.domain.geo import LatLon, destination, distance_km
from tts.domain.hypothesis import Hypothesis
from tts.domain.identity import Identity
from tts.domain.kind_of_n import KindOfN
from tts.domain.photo import Photo
from tts.domain.plan import Depth, Limits
from tts.domain.request import LocateOptions, LocateRequest, new_request_id
from tts.domain.stop_settings import WatchSettings
from tts.domain.stop_table import shipped_stop_table
from tts.eval.datasets import load_dataset
from tts.eval.runs.kind_of_n import RolloutsOfAnswer, kinds_in_words, rollouts_of
from tts.eval.runs.solvers import LocalSolver
from tts.eval.sample import Sample
from tts.pipeline import solve
from tts.ports.request_ports import Ports
from tts.ports.rollout_groups import GroupRequest, RolloutItem
from tts.ports.verification import VerdictText, VerifyRequest
from tts.routing.depth_router import DepthRouter
from tts.routing.locatability import FixedLocator
from tts.verify.verifiers.fallback import fallback_verdict

_REFERENCE_POINT = LatLon(lat=48.2, lon=16.37)
_TICK_S = 0.5
_RIGHT_KM = 25.0


@click.command()
@click.option("--logs", type=click.Path(path_type=Path), default=DEFAULT_LOGS, show_default=True)
@click.option("--photos", type=click.Path(path_type=Path), default=DEFAULT_PHOTOS, show_default=True)
@click.option(
    "--fit-on",
    type=click.Path(path_type=Path),
    help="Logs of other models. The policy loss starts with a table of these logs on --logs, and the reverse.",
)
@click.option("--plot", type=click.Path(path_type=Path), help="Write the frontiers as SVG to this file.")
@click.option(
    "--part",
    type=click.Choice(["logs", "time", "leader", "first_calls", "photos", "all"]),
    default="all",
    show_default=True,
)
@click.option("--quick", is_flag=True, help="Use one shuffle, and every eighth photo.")
def command(logs: Path, photos: Path, fit_on: Path | None, plot: Path | None, part: str, quick: bool) -> None:
    """For every stop policy, the rollouts that it saves and the points of accuracy that it loses. Also stragglers,
    deadlines, a leader compared with depth `deep`, different first calls, and depth `auto` compared with `deep` with
    the embedded engine."""
    report("depth", lambda: measure(logs, photos, fit_on, plot, part, quick))


def measure(logs: Path, photos: Path, fit_on: Path | None, plot: Path | None, part: str, quick: bool) -> Result:
    """The figures of one `part`, or of all; `plot` None writes no SVG, `fit_on` None compares no sets of logs.

    `kind_of_n` says of each part whether its rollouts are samples of one policy or of a mixture of models.
    """
    found: list[Result] = []
    if part in ("logs", "all"):
        found.append(_measure_recorded(logs, plot, 1 if quick else 8))
        if fit_on is not None:
            found.append(stopped_elsewhere(logs, fit_on, make_world(None), 1 if quick else 8))
    if part in ("time", "all"):
        found.append(asyncio.run(_measure_times(40 if quick else 200)))
    if part in ("leader", "all"):
        found.append(measure_leading(make_world(None), quick=quick))
    if part in ("first_calls", "all"):
        found.append(measure_first_calls(make_world(None), quick=quick))
    if part in ("photos", "all"):
        samples = choose_samples(load_dataset("folder", photos, seed=0), (), None)
        found.append(asyncio.run(_measure_auto(samples[:: 8 if quick else 1])))
    kinds = {name: kind for row in found for name, kind in row.get("kind_of_n", {}).items()}
    return {**{name: value for row in found for name, value in row.items()}, "kind_of_n": kinds}


def _measure_recorded(logs: Path, plot: Path | None, shuffles: int) -> Result:
    world = make_world(None)
    found = frontier(recorded_photos(logs), world, shuffles, shipped_stop_table())
    if plot is not None:
        draw(found, plot)
    default = {f"{target:g}": _point_of(points, DEFAULT).keys() for target, points in found.items()}
    everything = {f"{target:g} {point.policy}": point.keys() for target, points in found.items() for point in points}
    return {"kind_of_n": {"logs": KIND_OF_LOGS}, "policy": DEFAULT, "by_target_km": default, "frontier": everything}


def _point_of(points: Sequence[Point], name: str) -> Point:
    return next(point for point in points if point.policy == name)


class _TimedRollouts:
    """Rollouts that take given times (in ticks) and agree, mostly; they believe something from the start."""

    def __init__(self, took: Sequence[float], seed: int) -> None:
        self._durations_ticks = took
        self._rng = random.Random(seed)

    def group_size(self, group: GroupRequest) -> int:
        return 1

    async def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        for task in group.tasks:
            i = task.rollout_id
            off_km = self._rng.choice((2.0, 5.0, 9.0, 3000.0))
            point = destination(_REFERENCE_POINT, bearing_deg=self._rng.uniform(0, 360), distance_km=off_km)
            belief = Hypothesis(point=point)
            yield [RolloutStarted(rollout_id=i), Hypothesised(rollout_id=i, turn=0, hypothesis=belief)]
            await asyncio.sleep(self._durations_ticks[i % len(self._durations_ticks)] * _TICK_S)
            yield [RolloutFinished(rollout_id=i, stop_reason=StopReason.ANSWERED, answer=belief)]


class _UncheckedVerifier:
    """The unchecked verdict, so that nothing but waiting is measured."""

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerdictText | Verdict]:
        yield fallback_verdict(request, "not checked in this benchmark")


async def _measure_times(count: int) -> Result:
    rng = random.Random(9)
    ticks = [[rng.lognormvariate(0.0, 0.25) * (10.0 if i == 3 else 1.0) for i in range(4)] for _ in range(count)]
    waits = {stop: await _answer_times_s(ticks, stop, 60.0) for stop in ("none", "quorum:2")}
    p95 = {stop: percentile(found, 0.95) for stop, found in waits.items()}
    late = await _answer_times_s([[1e6] * 4] * count, "none", 1.0)
    print_progress(f"p95 with a straggler: {p95['none']:.2f} s without a watch, {p95['quorum:2']:.2f} s under quorum")
    return {
        "kind_of_n": {"time": f"scripted {KindOfN.ONE_POLICY}, 4 a photo"},
        "straggler_p95_cut": round(1.0 - p95["quorum:2"] / p95["none"], 3),
        "deadline_p99_ms": round(1e3 * percentile([abs(took - 1.0) for took in late], 0.99), 1),
    }


async def _answer_times_s(ticks: Sequence[Sequence[float]], stop: str, deadline_s: float) -> list[float]:
    """Seconds to the answer of requests that run at once."""
    photo = Photo(data=b"", sha256="0" * 64, source_sha256="0" * 64, width=64, height=64)
    identity = Identity(version="0", engine="timed", model="timed", dialect="generic", verifier="plain")

    async def answer_time_s(i: int, took: Sequence[float]) -> float:
        ports = Ports(
            FixedLocator(0.5),
            DepthRouter(Limits()),
            _TimedRollouts(took, i),
            _UncheckedVerifier(),
            identity,
            WatchSettings(stop=stop),
        )
        options = LocateOptions(n_parallel=len(took), depth=Depth.DEEP)
        started = asyncio.get_running_loop().time()
        async with closing(
            solve(LocateRequest(new_request_id(), (photo,), options), ports, deadline_s=deadline_s)
        ) as items:
            async for item in items:
                if getattr(item, "type", "") == "answer":
                    return asyncio.get_running_loop().time() - started
        return deadline_s

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(answer_time_s(i, took)) for i, took in enumerate(ticks)]
    return [task.result() for task in tasks]


async def _measure_auto(samples: Sequence[Sample]) -> Result:
    calls: dict[str, int] = {}
    hits: dict[str, int] = {}
    kinds: list[RolloutsOfAnswer] = []
    args = AppArgs()
    for depth in (Depth.DEEP, Depth.AUTO):
        solver = LocalSolver(local_ports(args), deadline_s=120.0)
        stop = "none" if depth is Depth.DEEP else None
        options = bench_options(4).model_copy(update={"depth": depth, "stop": stop})
        calls[depth], hits[depth] = 0, 0
        for i, sample in enumerate(samples):
            answer = (await solver(f"loc_{depth}_{i}", sample.load(), options)).answer
            if answer is None:
                continue
            kinds += [kind] if (kind := rollouts_of([one.source for one in answer.rollouts])) is not None else []
            calls[depth] += answer.usage.tool_calls
            point, truth = answer.point, sample.truth
            hits[depth] += point is not None and distance_km(point, truth.point) < max(_RIGHT_KM, truth.slack_km)
        print_progress(f"{depth}: {hits[depth]} of {len(samples)} within {_RIGHT_KM:g} km, {calls[depth]} tool calls")
    return {
        "kind_of_n": {"photos": kinds_in_words(kinds)},
        "auto_tool_share": round(calls[Depth.AUTO] / max(1, calls[Depth.DEEP]), 3),
        "auto_acc_loss": round(100.0 * (hits[Depth.DEEP] - hits[Depth.AUTO]) / max(1, len(samples)), 2),
    }
