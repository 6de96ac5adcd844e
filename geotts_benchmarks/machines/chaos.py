"""`geotts bench chaos`: one fault after the other by a seeded schedule, while clients keep asking.

On the machines of `geotts bench nodes`: the service is there twice, Redis keeps its data in a file. What is counted is
what clients of the project see, and what the journal of the engine says was begun. Needs root, `ip` and redis-server.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from geotts_benchmarks.harness import Result, percentile, print_progress, report
from geotts_benchmarks.machines.chaos_faults import Fault, Harms, write_no_step
from geotts_benchmarks.machines.clients import ClientRequest
from geotts_benchmarks.machines.doubled_work import doubled_work
from geotts_benchmarks.machines.engine_journal import read_journal
from geotts_benchmarks.machines.fault_timeline import InjectedFault, explain_case, explained_end
from geotts_benchmarks.machines.load import SteadyLoad
from geotts_benchmarks.machines.site import missing_site_requirement, running_site
from geotts_benchmarks.machines.small_disk import small_disk
from tts.errors import FatalError

_CLIENTS = 8
_DEADLINE_S = 90.0
_PARALLEL = 2
_WHOLE_PATIENCE_S = 120.0
_REDIS_MIB = 512
_CACHE_MIB = 256
_MAX_EXPLAINED_CASES = 20
_UNDECLARED_ENDS = ("failed", "unreachable", "hung")
_FAKETIME_LIBRARY = "*/faketime/libfaketimeMT.so.1"  # below /usr/lib
_NO_FAKETIME_TEXT = "libfaketime was not found (Debian: apt install libfaketime; or --faketime)"


@click.command()
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the schedule of faults.")
@click.option(
    "--requests", type=click.IntRange(1), default=1000, show_default=True, help="Requests after which faults stop."
)
@click.option("--minutes", type=float, default=15.0, show_default=True, help="Longest time with faults.")
@click.option(
    "--faketime",
    type=click.Path(exists=True, path_type=Path),
    help="Path of libfaketimeMT.so.1, which changes the clock.",
)
@click.option("--quick", is_flag=True, help="Stop the faults after 60 requests.")
def command(seed: int, requests: int, minutes: float, faketime: Path | None, quick: bool) -> None:
    """Kill, stop and starve the parts of a service under load.

    declared: requests that were refused with 503 or 429. undeclared: requests that ended in another way without an
    answer. hung: requests that had no end 5 s after their deadline. For the last two, undeclared_ends lists the faults
    of that time and the messages of the processes. doubled: turns that were begun again although the client had seen
    their end, and requests that ran a second time beside the one that the client knows. doubled_work lists the faults
    and messages for them. healthy_after_s: seconds from the end of the last fault until every replica runs.
    """
    report("chaos", lambda: measure(seed, 60 if quick else requests, minutes, faketime))


def measure(seed: int, requests: int, minutes: float, faketime: Path | None) -> Result:
    """Start the site, run the schedule, and return the figures; `skipped` says why there are none."""
    if reason := missing_site_requirement():
        return {"skipped": reason}
    rng = random.Random(seed)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        disks = {
            "redis": stack.enter_context(small_disk(folder / "redis", _REDIS_MIB)),
            "blobs": stack.enter_context(small_disk(folder / "blobs", _CACHE_MIB)),
        }
        clock, runtime_env = _false_clock(folder, faketime)
        site = stack.enter_context(
            running_site(
                folder,
                stores=disks["redis"].folder,
                gateway={"blob_store": str(disks["blobs"].folder)},
                runtime_env=runtime_env,
            )
        )
        load = stack.enter_context(site.load(clients=_CLIENTS, deadline_s=_DEADLINE_S, parallel=_PARALLEL))
        started_at = time.monotonic()
        done = _run_schedule(Harms(site, disks, clock, rng), load, requests, 60 * minutes)
        healthy_after_s = _time_until_whole(site.wait_until_whole)
        seen = load.finish(_DEADLINE_S + 30)
        doubled = doubled_work(seen, read_journal(site.journal))
        return {
            **_figures(seen),
            "doubled": len(doubled),
            "doubled_work": [
                explain_case(one, done, site.ray.folder, started_at) for one in doubled[:_MAX_EXPLAINED_CASES]
            ],
            "undeclared_ends": [
                explained_end(one, done, site.ray.folder, started_at)
                for one in [one for one in seen if one.outcome in _UNDECLARED_ENDS][:_MAX_EXPLAINED_CASES]
            ],
            "healthy_after_s": healthy_after_s,
            "faults": dict(sorted(Counter(fault.kind for fault in done).items())),
            "seed": seed,
            **({} if clock else {"left_out": {"clock_step": _NO_FAKETIME_TEXT}}),
        }


def _figures(seen: list[ClientRequest]) -> Result:
    outcomes = Counter(one.outcome for one in seen)
    times = [one.ended - one.started_at for one in seen if one.outcome == "answered"]
    return {
        "requests": len(seen),
        "answered": outcomes["answered"],
        "declared": outcomes["declared"],
        "undeclared": outcomes["failed"] + outcomes["unreachable"],
        "hung": outcomes["hung"],
        "answer_p50_s": round(percentile(times, 0.5), 2),
        "answer_p95_s": round(percentile(times, 0.95), 2),
        "answer_worst_s": round(max(times, default=0.0), 2),
        "ends": dict(Counter(f"{one.outcome} {one.detail}"[:160] for one in seen if one.outcome != "answered")),
    }


def _run_schedule(harms: Harms, load: SteadyLoad, requests: int, longest_s: float) -> list[InjectedFault]:
    """Faults until so many requests have ended, or the time is over. What was done."""
    done: list[InjectedFault] = []
    give_up = time.monotonic() + longest_s
    for fault in harms.endless():
        time.sleep(fault.after_s)
        ended = len(load.ended_requests())
        if ended >= requests or time.monotonic() > give_up:
            break
        print_progress(f"{ended} requests: {fault.kind} for {fault.lasts_s:.0f} s")
        with _inject_fault(harms, fault, done):
            time.sleep(fault.lasts_s)
    return done


@contextmanager
def _inject_fault(harms: Harms, fault: Fault, done: list[InjectedFault]) -> Iterator[None]:
    started_at = time.monotonic()
    undo: Callable[[], None] | None = harms.do(fault.kind)
    if undo is None:
        yield
        return
    victim = harms.victim
    try:
        yield
    finally:
        undo()
        done.append(InjectedFault(fault.kind, victim, started_at, time.monotonic()))


def _time_until_whole(wait: Callable[[float], float]) -> float | None:
    """Seconds, or None when the service does not become whole by itself."""
    try:
        return round(wait(_WHOLE_PATIENCE_S), 1)
    except FatalError as error:
        print_progress(str(error))
        return None


def _false_clock(folder: Path, faketime: Path | None) -> tuple[Path | None, dict[str, Any] | None]:
    """The file that says how wrong the clock of the replicas is, and the environment in which they read it."""
    library = faketime or next(Path("/usr/lib").glob(_FAKETIME_LIBRARY), None)
    if library is None:
        print_progress(_NO_FAKETIME_TEXT)
        return None, None
    clock = folder / "clock"
    write_no_step(clock)
    variables = {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    return clock, {"env_vars": variables}
