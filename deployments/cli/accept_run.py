"""Locates the photos of `geotts accept` one by one, and writes a run file from which the next start continues."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deployments.cli.console import STDERR
from deployments.cli.eval_run import local_solver, locate_samples
from deployments.config import AppArgs
from tts.domain.plan import Depth
from tts.domain.request import LocateOptions
from tts.eval.acceptance.allowance import Allowance
from tts.eval.runs.configuration import config_digest
from tts.eval.runs.journal import Journal
from tts.eval.runs.record import Record, read_records
from tts.eval.runs.runner import RunSetup, progress_of
from tts.eval.sample import Sample
from tts.verify.consensus.installed_calibrations import calibration_key

_DATASET = "accept"


@dataclass(frozen=True, slots=True)
class AcceptRun:
    """Which photos are located, how, and into which file. Another configuration has another file."""

    args: AppArgs
    samples: Sequence[Sample]
    rollouts: int
    seed: int
    concurrency: int
    out: Path | None

    @property
    def setup(self) -> RunSetup:
        """Every rollout to its end, with tools; what a profile asks for (tools, money) as its users get it."""
        asked = LocateOptions(n_parallel=self.rollouts, depth=Depth.DEEP, stop="none", seed=self.seed, include="full")
        digest = config_digest(self.args, None, with_installed=False)
        return RunSetup(_DATASET, self.args.request_defaults.fill(asked), digest)

    @property
    def file(self) -> Path:
        """The run file: the one that was named, else one of its own for engine, configuration, n and seed."""
        if self.out is not None:
            return self.out
        key = Path(calibration_key(self.args).file_name).stem.rpartition("-")[0]
        setup = self.setup
        return Path("runs") / f"accept-{key}-{setup.config_sha256}-n{self.rollouts}-seed{self.seed}.jsonl"

    def locate(self, allowance: Allowance) -> None:
        """Locate what is not in the file yet, and again what got no answer. Blocks until `allowance` is used up."""
        setup, file = self.setup, self.file
        with Journal(file) as journal:
            before = progress_of(file, setup)
            todo = [sample for sample in self.samples if sample.id not in before.done - before.failed]
            STDERR.print(f"{len(self.samples)} photos, {len(self.samples) - len(todo)} done before → {file}")
            if todo:
                asyncio.run(self._locate(todo, journal, setup, allowance))

    def records(self) -> list[Record]:
        """What the file holds of these photos."""
        if not self.file.stat().st_size:
            return []
        mine = {sample.id for sample in self.samples}
        return [record for record in read_records(self.file) if record.sample in mine]

    async def _locate(self, todo: list[Sample], journal: Journal, setup: RunSetup, allowance: Allowance) -> None:
        async with local_solver(self.args) as solver:
            await locate_samples(solver, todo, journal, setup, self.concurrency, allowance)
