"""The table of docs/threat-model.md: enough attempts, each with a result, a severity, and something that shows it."""

import re
from pathlib import Path

import pytest

from geotts_benchmarks.cli import BENCHES

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "threat-model.md").read_text().partition("## What was tried")[2]
ROWS = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in TEXT.splitlines() if line.startswith("| ")]
ATTEMPTS = ROWS[1:]


def test_at_least_forty_attempts_are_listed_each_once():
    assert ROWS[0] == ["attempt", "result", "severity before the repair", "shown by"]
    assert len({attempt for attempt, *_ in ATTEMPTS}) == len(ATTEMPTS) >= 40


@pytest.mark.parametrize("row", ATTEMPTS, ids=[row[0][:60] for row in ATTEMPTS])
def test_each_attempt_has_a_result_a_severity_and_a_test_or_benchmark(row):
    attempt, result, severity, shown = row
    assert attempt
    assert result
    assert severity in ("none", "low", "medium", "high")
    assert severity not in ("medium", "high") or ("**" in result and "now " in result), "it is said how it was mended"
    shown = shown.strip("`")
    if shown.startswith("geotts "):
        assert shown.removeprefix("geotts bench ") in BENCHES
    else:
        path, name = shown.split("::")
        assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(), re.MULTILINE), f"there is no {shown}"
