"""`geotts bench nodes`: machines that are lost, cut off and added under load, and a rolling update.

Network namespaces stand for the machines: two with Ray, a gateway and replicas of everything, a third with clients of
the project that know both addresses. Redis is on the first machine. Needs root, `ip` and redis-server.
"""

from __future__ import annotations

import copy
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import click

from geotts_benchmarks.harness import Result, percentile, print_progress, report
from geotts_benchmarks.machines.doubled_work import doubled_work
from geotts_benchmarks.machines.engine_journal import read_journal
from geotts_benchmarks.machines.load import SteadyLoad
from geotts_benchmarks.machines.site import Site, missing_site_requirement, running_site
from geotts_benchmarks.machines.waiting_times import (
    Phase,
    extra_waits_s,
    phase_row,
    undisturbed_s,
)
from tts.errors import FatalError

_CLIENTS = 6
_DEADLINE_S = 120.0
_PARALLEL = 2
_WHOLE_PATIENCE_S = 240.0
_PARTITION_S = 20.0
_SETTLE_S = 5.0


@click.command()
@click.option("--quick", is_flag=True, help="Run only the loss of a machine and the update, with shorter pauses.")
def command(quick: bool) -> None:
    """Cut a machine off, lose it, add it again and roll out a new version, while clients send requests.

    lost: requests that were accepted and got no answer. doubled: turns that were begun again although the client had
    seen their end. extra_wait_p95_s: for requests that ran during a fault, the seconds above the median of the first
    phase, which has no fault. update_failures: requests that were not answered during the update.
    """
    report("nodes", lambda: measure(quick=quick))


def measure(*, quick: bool) -> Result:
    """Start the machines and the service, and return the figures; `skipped` says why there are none."""
    if reason := missing_site_requirement():
        return {"skipped": reason}
    with (
        tempfile.TemporaryDirectory() as folder,
        running_site(Path(folder)) as site,
        site.load(clients=_CLIENTS, deadline_s=_DEADLINE_S, parallel=_PARALLEL) as load,
    ):
        return _Run(site, load, quick=quick).measure()


@dataclass(slots=True)
class _Run:
    """The phases of a run, one after the other."""

    site: Site
    load: SteadyLoad
    quick: bool
    phases: list[Phase] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def measure(self) -> Result:
        self._run_phase("calm", lambda: time.sleep(10.0 if self.quick else 30.0))
        if not self.quick:
            self._run_phase("partition", self._partition)
        self._run_phase("kill", self._kill)
        self._run_phase("add", lambda: self.site.ray.start(self.site.worker))
        self._run_phase("update", self._update)
        seen = self.load.finish(_DEADLINE_S + 30)
        usual_s = undisturbed_s(seen, self.phases[0])
        waits = extra_waits_s(seen, self.phases[1:], usual_s)
        accepted = [one for one in seen if one.accepted]
        lost = [one for one in accepted if one.outcome != "answered"]
        return {
            "accepted": len(accepted),
            "lost": len(lost),
            "doubled": len(doubled_work(seen, read_journal(self.site.journal))),
            "refused": len(seen) - len(accepted),
            "extra_wait_p95_s": round(percentile(waits, 0.95), 2),
            "update_failures": phase_row(seen, self.phases[-1], usual_s)["not_answered"],
            "problems": self.problems,
            "usual_s": round(usual_s, 2),
            "phases": {phase.name: phase_row(seen, phase, usual_s) for phase in self.phases},
            "failures": sorted({f"{one.outcome} {one.detail}" for one in seen if one.outcome != "answered"})[:5],
        }

    def _run_phase(self, name: str, action: Callable[[], object]) -> None:
        """Do something, wait until the service is whole again, and a moment more."""
        started_at = time.monotonic()
        try:
            action()
            whole_s = self.site.wait_until_whole(_WHOLE_PATIENCE_S)
        except FatalError as error:
            self.problems.append(f"{name}: {error.detail.splitlines()[0]}")
            whole_s = time.monotonic() - started_at
        time.sleep(_SETTLE_S)
        self.phases.append(Phase(name, started_at, time.monotonic()))
        print_progress(f"{name}: whole {whole_s:.0f} s after it, {len(self.load.ended_requests())} requests so far")

    def _partition(self) -> None:
        self.site.worker.disconnect()
        time.sleep(_PARTITION_S)
        self.site.worker.reconnect()

    def _kill(self) -> None:
        self.site.worker.kill()
        time.sleep(_SETTLE_S)  # Serve has to notice before its status says anything

    def _update(self) -> None:
        """A new version of everything: any change of the arguments makes one."""
        tree = copy.deepcopy(dict(self.site.tree))
        tree["applications"][0]["args"]["engine"]["tokens_per_turn"] += 1
        self.site.deploy(tree)
        time.sleep(_SETTLE_S)
