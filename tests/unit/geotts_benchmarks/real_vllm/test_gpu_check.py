"""`scripts/gpu-check`: its parts, their limits, and what counts as a failure. The parts themselves need vLLM."""

import subprocess
import sys

import pytest

from geotts_benchmarks.real_vllm import gpu_check
from geotts_benchmarks.real_vllm.gpu_check import PARTS, Part, problem_of, run


def a_part(program, limit_s=30.0):
    return Part("cancel", ("-c", "raise SystemExit(9)"), ("-c", program), limit_s)


def test_all_parts_together_take_at_most_25_minutes():
    assert sum(part.limit_s for part in PARTS) <= 25 * 60
    assert [part.name for part in PARTS] == ["tests", "bench", "draws", "cancel", "agreement"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", [part for part in PARTS if "geotts_benchmarks" in part.command[1]], ids=lambda p: p.name
)
def test_each_part_is_a_command_that_explains_itself(part):
    explained = subprocess.run([sys.executable, *part.command, "--help"], capture_output=True, text=True, check=False)
    assert explained.returncode == 0, explained.stderr


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("print('{\"freed_ms\": 3}')", ""),
        ('print(\'{"freed_ms": 3, "not_freed": 2}\')', "2 cancellations did not free their memory"),
        ('print(\'{"skipped": "no CUDA"}\')', "no CUDA"),
        ("import sys; print('1 failed'); sys.exit(1)", "exit code 1: 1 failed"),
    ],
)
def test_a_part_that_fails_is_named_with_its_reason(monkeypatch, program, problem):
    monkeypatch.setattr(gpu_check, "PARTS", (a_part(program),))
    found = run(rehearse=True)
    assert found["failed"] == ({"cancel": problem} if problem else {})


def test_a_part_that_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(gpu_check, "PARTS", (a_part("import time; time.sleep(60)", 0.2),))
    assert run(rehearse=True)["failed"] == {"cancel": "not done after 1 s"}


def test_first_tokens_that_differ_are_a_failure():
    assert problem_of("agreement", 0, {"agrees": True}) == ""
    assert "[5, 3]" in problem_of("agreement", 0, {"agrees": False, "overlap": [5, 3]})


@pytest.mark.slow
def test_gpu_check_without_a_gpu_fails_and_names_the_rehearsal():
    done = subprocess.run(
        [sys.executable, "-m", "geotts_benchmarks.real_vllm.gpu_check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "--rehearse" in done.stderr
