"""`scripts/gpu-check`: what only a GPU can show, in 25 minutes. `--rehearse` does it on a CPU with tiny models.

Each part is a process of its own, so that the memory of one engine is free before the next one starts, and has a time
limit of its own. One that fails does not stop the others.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass

import click

from geotts_benchmarks.all import last_object
from geotts_benchmarks.harness import Result, print_progress, report
from tts.inference.vllm.seam import has_cuda

_REHEARSAL_FACTOR = 3  # a CPU that others use, too
_TINY_SHAPE = ("--shape", "tiny-qwen3-vl")
_RUN_GEOTTS = "from deployments.cli import main; main()"


@dataclass(frozen=True, slots=True)
class Part:
    """A command without the Python before it, and the same for the rehearsal."""

    name: str
    command: tuple[str, ...]
    rehearsal: tuple[str, ...]
    limit_s: float


PARTS = (
    Part(
        "tests",
        ("-m", "pytest", "-q", "-m", "gpu", "tests/real_vllm"),
        ("-m", "pytest", "-q", "tests/real_vllm/test_engine.py"),
        460.0,
    ),
    Part(
        "bench",
        ("-c", _RUN_GEOTTS, "bench", "gpu", "--n", "1,2,4,8,16"),
        ("-c", _RUN_GEOTTS, "bench", "gpu", "--quick", "--n", "1,2,4", *_TINY_SHAPE),
        460.0,
    ),
    Part(
        "draws",
        ("-c", _RUN_GEOTTS, "bench", "draws", "--tokens", "128", "--repeats", "9", "--shape", "qwen3-vl-4b"),
        ("-c", _RUN_GEOTTS, "bench", "draws", "--quick", "--n", "2", "--turns", "2"),
        240.0,
    ),
    Part(
        "cancel",
        ("-m", "geotts_benchmarks.real_vllm.gpu_cancel"),
        ("-m", "geotts_benchmarks.real_vllm.gpu_cancel", "--repeats", "2", *_TINY_SHAPE),
        160.0,
    ),
    Part(
        "agreement",
        ("-m", "geotts_benchmarks.real_vllm.gpu_agreement"),
        ("-m", "geotts_benchmarks.real_vllm.gpu_agreement"),
        160.0,
    ),
)
"""Their limits are 24 min 40 s together."""


@click.command()
@click.option("--rehearse", is_flag=True, help="Run on a CPU with tiny models, to test this script.")
@click.option(
    "--only", type=click.Choice([part.name for part in PARTS]), multiple=True, help="Run only this part. Repeatable."
)
def main(rehearse: bool, only: tuple[str, ...]) -> None:
    """Tests, goodput and cache hits, draws of answers, memory freed after a cancellation, agreement with the CPU.

    A table on stderr, and one JSON object as the last line of stdout. Exit code 1 when a part failed.
    """
    if not rehearse and not has_cuda():
        raise click.ClickException("there is no CUDA device, or vLLM is not installed; --rehearse runs on a CPU")
    found = report("gpu_check", lambda: run(rehearse=rehearse, only=only))
    sys.exit(1 if found["failed"] else 0)


def run(*, rehearse: bool, only: tuple[str, ...] = ()) -> Result:
    """Every part, one after the other; `failed` names those that failed, and why."""
    parts = {part.name: _run(part, rehearse=rehearse) for part in PARTS if not only or part.name in only}
    failed = {name: problem for name, (_, problem) in parts.items() if problem}
    found = {name: result for name, (result, _) in parts.items()}
    print_progress("part        result")
    for name, result in found.items():
        print_progress(f"{name:<12}{failed.get(name) or _result_text(result)}")
    return {"device": "rehearsed on a CPU" if rehearse else _gpu_names(), "failed": failed, **found}


def _run(part: Part, *, rehearse: bool) -> tuple[Result, str]:
    command = [sys.executable, *(part.rehearsal if rehearse else part.command)]
    print_progress(f"{part.name}: {' '.join(command[1:])}")
    limit_s = _REHEARSAL_FACTOR * part.limit_s if rehearse else part.limit_s
    started = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return {}, f"not done after {limit_s:.0f} s"
    lines = done.stdout.decode(errors="replace").splitlines()
    result: Result = last_object(done.stdout) or {"summary": lines[-1] if lines else ""}
    result["seconds"] = round(time.monotonic() - started, 1)
    return result, problem_of(part.name, done.returncode, result)


def problem_of(name: str, code: int, result: Result) -> str:
    """Why a part failed; empty when it did not."""
    if code:
        return f"exit code {code}: {result.get('summary', '')}"
    if result.get("skipped"):
        return str(result["skipped"])
    if result.get("not_freed"):
        return f"{result['not_freed']} cancellations did not free their memory"
    if name == "agreement" and not result.get("agrees"):
        return f"the first tokens differ from those of the CPU: {result.get('overlap')}"
    return ""


def _result_text(result: Result) -> str:
    left_out = ("bench", "version", "machine")
    return ", ".join(f"{key} {value}" for key, value in result.items() if key not in left_out)


def _gpu_names() -> str:
    """The names of the GPUs, as NVIDIA's driver reports them."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


if __name__ == "__main__":
    main()
