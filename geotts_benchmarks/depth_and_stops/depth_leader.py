"""`geotts bench depth --part leader`: what a leader saves against always deep, and what it costs when it is wrong.

A scripted model of four turns: on half of the photos the first turn names a sign and every rollout ends at the right
place; on the others it goes by implicit cues and each rollout has its own idea, right in three of five. The same photos
and rollouts under `depth=deep` and under `auto` with `width: careful`, both without a stop policy, so that nothing but
the leader decides; verified by the consensus verifier. A second set has a leader that names a sign and is wrong.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from geotts_benchmarks.depth_and_stops.searching_rollouts import SEARCH, SearchingRollouts
from geotts_benchmarks.harness import Result, print_progress
from tts.aio import closing
from tts.config import ScriptedEngine
from tts.domain.abilities import Abilities
from tts.domain.geo import LatLon, destination, distance_km
from tts.domain.identity import Identity
from tts.domain.kind_of_n import KindOfN
from tts.domain.photo import Photo
from tts.domain.plan import Depth, Limits, Locatability
from tts.domain.request import LocateOptions, LocateRequest, RequestContext, new_request_id
from tts.domain.stop_settings import WatchSettings
from tts.domain.trajectory import Run, fold
from tts.inference.scripted.engine import ScriptedCall, ScriptedModel, ScriptedTurn
from tts.pipeline import solve
from tts.ports.locator import Routing
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment
from tts.routing.depth_router import DepthRouter
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import ConsensusVerifier

_TURNS = 4
_RIGHT_KM = 10.0
_RADIUS_KM = 25.0
_RIGHT_SHARE = 0.6  # of the rollouts on a photo without an explicit cue
_EXPLICIT_TEXT = "The sign reads the name of the town."
_IMPLICIT_TEXT = "Palms, warm light and brick houses, no text."


@dataclass(frozen=True, slots=True)
class _PhotoScript:
    """One photo: where it was taken, and what its rollouts say."""

    truth: LatLon
    turns: tuple[ScriptedTurn, ...]


class _FixedLocator:
    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        return Routing(Locatability(score=0.1, method="cues", parts={"text": 0.0, "content": 1.0, "structure": 0.5}))


async def leader_figures(world: World, photos: int) -> Result:
    """Rollout-turns saved by a careful leader at n = 4 and 8, photos lost by it, and what a wrong leader starts."""
    verifier = ConsensusVerifier(world, shipped_calibration("openai"))
    found: Result = {}
    for n in (4, 8):
        rng = random.Random(n)
        scripts = [_photo_script(rng, n, explicit=i % 2 == 0) for i in range(photos)]
        deep = [await _run(script, verifier, n, careful=False) for script in scripts]
        careful = [await _run(script, verifier, n, careful=True) for script in scripts]
        hits = [[_is_right(run, script) for run, script in zip(runs, scripts, strict=True)] for runs in (deep, careful)]
        saved = 1.0 - sum(map(_count_turns, careful)) / sum(map(_count_turns, deep))
        lost = sum(before and not after for before, after in zip(*hits, strict=True))
        wrong_scripts = [_photo_script(rng, n, explicit=True, misled=True) for _ in range(max(1, photos // 4))]
        wrong = [await _run(script, verifier, n, careful=True) for script in wrong_scripts]
        found[f"n{n}"] = {
            "turns_saved": round(100.0 * saved, 1),
            "photos_lost": lost,
            "right_deep": sum(hits[0]),
            "right_careful": sum(hits[1]),
            "photos": photos,
            "wrong_leader_starts_all": all(len(run.rollouts) == n for run in wrong),
            "wrong_leader_right": sum(_is_right(run, script) for run, script in zip(wrong, wrong_scripts, strict=True)),
            "wrong_leaders": len(wrong),
        }
        print_progress(f"n = {n}: careful saves {100 * saved:.1f} % of the turns, {lost} of {sum(hits[0])} photos lost")
    return {"leader": found}


def _photo_script(rng: random.Random, n: int, *, explicit: bool, misled: bool = False) -> _PhotoScript:
    """`misled`: the leader is sure and wrong, the others are right."""
    truth = LatLon(lat=rng.uniform(-50, 60), lon=rng.uniform(-180, 180))
    turns = []
    for i in range(n):
        right = i > 0 if misled else explicit or rng.random() < _RIGHT_SHARE
        away_km = rng.uniform(0.0, 5.0) if right else rng.uniform(800.0, 5000.0)
        point = destination(truth, bearing_deg=rng.uniform(0, 360), distance_km=away_km)
        call = ScriptedCall(name=SEARCH, arguments={"query": "the town"})
        texts = [_EXPLICIT_TEXT if explicit else _IMPLICIT_TEXT, *["Let me look further."] * (_TURNS - 2)]
        turns += [ScriptedTurn(rollout=i, turn=t, text=text, calls=(call,)) for t, text in enumerate(texts)]
        answer = json.dumps({"lat": point.lat, "lon": point.lon})
        turns.append(ScriptedTurn(rollout=i, turn=_TURNS - 1, text=answer))
    return _PhotoScript(truth, tuple(turns))


async def _run(script: _PhotoScript, verifier: ConsensusVerifier, n: int, *, careful: bool) -> Run:
    photo = Photo(data=b"", sha256="0" * 64, source_sha256="0" * 64, width=64, height=64)
    identity = Identity(version="0", engine="scripted", model="scripted", dialect="generic", verifier="consensus")
    watch = WatchSettings(stop="none", leader=True, width="careful")
    router = DepthRouter(Limits(), Abilities(sees_pictures=True))
    rollouts = SearchingRollouts(ScriptedModel(ScriptedEngine(), script.turns), "nothing was found")
    ports = Ports(_FixedLocator(), router, rollouts, verifier, identity, watch)
    depth = Depth.AUTO if careful else Depth.DEEP
    options = LocateOptions(n_parallel=n, depth=depth, target_radius_km=_RADIUS_KM, seed=1)
    run = Run()
    async with closing(solve(LocateRequest(new_request_id(), (photo,), options), ports, deadline_s=60.0)) as items:
        async for item in items:
            if not isinstance(item, Attachment):
                run = fold([item], run)
    return run


def _count_turns(run: Run) -> int:
    return sum(trajectory.usage.turns for trajectory in run.trajectories)


def _is_right(run: Run, script: _PhotoScript) -> bool:
    point = run.answer.point if run.answer is not None else None
    return point is not None and distance_km(point, script.truth) < _RIGHT_KM


def measure_leading(world: World, *, quick: bool) -> Result:
    """`leader_figures` over 200 photos, 20 with `quick`, in an event loop of its own."""
    found = asyncio.run(leader_figures(world, 20 if quick else 200))
    return {"kind_of_n": {"leader": f"scripted {KindOfN.ONE_POLICY}, 4 and 8 a photo"}, **found}
