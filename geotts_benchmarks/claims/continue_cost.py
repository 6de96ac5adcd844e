"""Compares a continued request with a fresh one that gets the same additions: tool calls and answers, on drawn scenes.

Both are whole requests to a gateway. The seed is the same, so both must give the same answer; the continued one
should make far fewer tool calls, because it has the results of the earlier request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deployments.config import AppArgs
from deployments.gateway.auth import Caller
from deployments.gateway.continued_request import continuation_of
from deployments.gateway.gateway import Gateway
from deployments.wiring.local import local_ports
from geotts_benchmarks.harness import Result, print_progress
from geotts_client.continue_options import ContinueOptions
from tts.config import ScriptedEngine
from tts.domain.plan import Depth
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.eval.scenes.generate import SceneMaker
from tts.geodata.countries import Countries

SCRIPTED = ScriptedEngine(turns=3, tokens_per_turn=4, turn_s=0.0, tool="poi_keyword_search")
_COMPARED_FIELDS = (
    "lat",
    "lon",
    "radius_km",
    "level",
    "confidence",
    "country",
    "region",
    "city",
    "place",
    "candidates",
    "hint",
)


@dataclass(frozen=True, slots=True)
class ContinueComparison:
    """Tool calls that were made by a continued run and by a fresh one, and whether their answers are the same."""

    addition: str
    continued: int
    fresh: int
    same: bool


async def continued_figures(args: AppArgs, maker: SceneMaker, scenes: int, n: int) -> Result:
    """By engine: the calls of continued runs in percent of those of fresh ones, and how many answers differ."""
    scripted = args.model_copy(update={"engine": SCRIPTED})
    return {
        "embedded": _figures(await compare_scenes(args, maker, scenes, n)),
        "scripted": _figures(await compare_scenes(scripted, maker, min(scenes, 5), n)),
    }


async def compare_scenes(args: AppArgs, maker: SceneMaker, scenes: int, n: int) -> list[ContinueComparison]:
    """Every scene located, then continued with a fact and with a rejection; and a fresh run with each of them."""
    gateway, found = Gateway(args, local_ports(args)), []
    try:
        for number in range(scenes):
            scene = maker.plan(number)
            fact = f"in {Countries().name(scene.town.country)}"
            found += await _compare_on_scene(gateway, args, maker.photo(scene), n, fact)
            if number % 10 == 9:
                print_progress(f"continued: {number + 1} scenes")
    finally:
        await gateway.aclose()
    return found


async def _compare_on_scene(
    gateway: Gateway, args: AppArgs, photo: bytes, n: int, fact: str
) -> list[ContinueComparison]:
    options = LocateOptions(n_parallel=n, depth=Depth.DEEP, stop="none", seed=1)
    first = (await gateway.start([photo], options)).request_id
    answer = (await gateway.result(first)).answer
    rows = []
    for name, asked in (("fact", ContinueOptions(fact=fact)), ("not_there", ContinueOptions(not_there=True))):
        if answer is None or (asked.not_there and answer.abstained):
            continue
        meta = await gateway.meta(first, Caller())
        prepared = await continuation_of(gateway.store, meta, asked, gateway.ports.identity, args.data_dir, added=0)
        one = await gateway.start([], prepared.options, continuation=prepared)
        other = await gateway.start([photo], prepared.options)
        rows.append(_compare_runs(name, await gateway.result(one.request_id), await gateway.result(other.request_id)))
        for request_id in (one.request_id, other.request_id):
            await gateway.erase(request_id)
    await gateway.erase(first)
    return rows


def _compare_runs(addition: str, continued: Run, fresh: Run) -> ContinueComparison:
    one, other = continued.answer, fresh.answer
    same = (
        one is not None
        and other is not None
        and all(getattr(one, name) == getattr(other, name) for name in _COMPARED_FIELDS)
    )
    return ContinueComparison(addition, calls_made(continued), calls_made(fresh), same)


def calls_made(run: Run) -> int:
    """Calls of tools that were not answered from the earlier request."""
    return sum(not result.kept for trajectory in run.trajectories for result in trajectory.results)


def _figures(rows: Sequence[ContinueComparison]) -> Result:
    kinds = sorted({row.addition for row in rows})
    return {
        "runs": len(rows),
        "different_answers": sum(not row.same for row in rows),
        "continue_calls": _share_percent(rows),
        **{f"continue_calls_{kind}": _share_percent([row for row in rows if row.addition == kind]) for kind in kinds},
    }


def _share_percent(rows: Sequence[ContinueComparison]) -> float | None:
    """Percent."""
    fresh = sum(row.fresh for row in rows)
    return round(100.0 * sum(row.continued for row in rows) / fresh, 1) if fresh else None
