#!/usr/bin/env python3
"""Records run files for `geotts plan --runs`: every way to spend, on the same drawn scenes of the held-out split.

For each scene, all ways run one after the other, so that all have the same load of the machine. Each picture is read
once. When another way reads it again, it gets the same reading after the time that the first one took. The same command
continues where it was stopped. Record while nothing else runs: the seconds become those of the table.

    python scripts/record_budget_runs.py --count 120 --out runs
    geotts plan --runs runs/n1.jsonl --runs runs/n2.jsonl … --out tts/data/budget/clues.yaml
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from deployments.config import AppArgs
from deployments.wiring.local import local_ports
from tts.domain.photo import Box, Photo
from tts.domain.plan import Depth
from tts.domain.reading import Reading
from tts.domain.request import LocateOptions, RequestContext
from tts.eval.runs.configuration import config_digest
from tts.eval.runs.journal import Journal
from tts.eval.runs.runner import RunSetup, progress_of, run_samples
from tts.eval.runs.solvers import LocalSolver
from tts.eval.scenes.generate import SceneMaker
from tts.perception.local_perception import LocalPerception
from tts.perception.sign_reader import SignReader


class Way(NamedTuple):
    """How a request spends."""

    n: int
    turns: int = 8
    answer_draws: int = 1
    questions: int = 0
    stop: str = "none"


WAYS = {
    "one-turn-n1": Way(1, turns=1),
    "n1": Way(1),
    "n2": Way(2),
    "n4": Way(4),
    "n8": Way(8),
    "stopped-n8": Way(8, stop="loss:1.0"),
    "questions-n4": Way(4, questions=4),
    "draws-n4": Way(4, answer_draws=4),
    "all-n8": Way(8, answer_draws=4, questions=4, stop="loss:1.0"),
}


class RepeatedPerception(LocalPerception):
    """Reads each photo once for all ways. A way that asks for a kept reading waits as long as the first one did."""

    def __init__(self, make_reader: Callable[[], SignReader] = SignReader) -> None:
        super().__init__(make_reader)
        self._seconds: dict[tuple[str, Box | None, str], float] = {}
        self._read_in_way: set[tuple[str, Box | None, str]] = set()

    def begin_way(self) -> None:
        """Another way begins, which has read nothing yet."""
        self._read_in_way.clear()

    async def read(self, photo: Photo, box: Box | None, context: RequestContext, language: str = "") -> Reading:
        """As in a process that has just started, but for the work."""
        key = (photo.sha256, box, language)
        if key in self._seconds and key not in self._read_in_way:
            self._read_in_way.add(key)
            await asyncio.sleep(self._seconds[key])
        self._read_in_way.add(key)
        started = time.perf_counter()
        reading = await super().read(photo, box, context, language)
        self._seconds.setdefault(key, time.perf_counter() - started)
        return reading


def solver_of(way: Way, perception: RepeatedPerception) -> tuple[LocalSolver, RunSetup]:
    """What locates a scene in this way, and what its run file says."""
    args = AppArgs()
    limits = args.limits.model_copy(update={"max_turns": way.turns, "answer_draws": way.answer_draws})
    args = args.model_copy(update={"limits": limits})
    options = LocateOptions(
        n_parallel=way.n, depth=Depth.DEEP, stop=way.stop, verifier_questions=way.questions, seed=1, include="full"
    )
    solver = LocalSolver(local_ports(args, perception=perception), deadline_s=args.gateway.default_deadline_s)
    return solver, RunSetup("scenes-held_out", options, config_digest(args, None))


async def record(count: int, seed: int, out: Path, may_begin: Callable[[], bool]) -> None:
    """A run file for each way; every scene has a record in each of them."""
    perception = RepeatedPerception()
    solvers = {name: solver_of(way, perception) for name, way in WAYS.items()}
    samples = SceneMaker(seed=seed, split="held_out", street=True).samples(count)
    warm = SceneMaker(seed=seed + 1, split="held_out", street=True).samples(1)[0]
    for solver, setup in solvers.values():
        await solver("loc_warm", warm.load(), setup.options)
    files = {name: out / f"{name}.jsonl" for name in WAYS}
    done = {name: progress_of(file, solvers[name][1]).done for name, file in files.items()}
    with ExitStack() as stack:
        journals = {name: stack.enter_context(Journal(file)) for name, file in files.items()}
        for number, sample in enumerate(samples):
            if not may_begin():
                break
            for name, (solver, setup) in solvers.items():
                perception.begin_way()
                missing = [sample] if sample.id not in done[name] else []
                async for _ in run_samples(missing, solver, journals[name], setup, concurrency=1):
                    pass
            print(f"{number + 1} of {count}", flush=True)


def main() -> None:
    """Read the arguments and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=120, help="scenes")
    parser.add_argument("--seed", type=int, default=271, help="seed of the scenes")
    parser.add_argument("--out", type=Path, required=True, help="folder for the run files")
    parser.add_argument("--most-s", type=float, default=float("inf"), help="begin no scene after so many seconds")
    given = parser.parse_args()
    ends_at = time.monotonic() + given.most_s
    given.out.mkdir(parents=True, exist_ok=True)
    asyncio.run(record(given.count, given.seed, given.out, lambda: time.monotonic() < ends_at))


if __name__ == "__main__":
    main()
