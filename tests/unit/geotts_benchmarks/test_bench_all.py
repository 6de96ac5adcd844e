import sys
import textwrap

import pytest
from click.testing import CliRunner

from geotts_benchmarks import all as bench_all
from geotts_benchmarks.all import Outcome, last_object, page, run_one
from geotts_benchmarks.cli import BENCHES, NOT_IN_ALL, benches_of_all, command


def test_bench_all_runs_every_bench_except_the_listed_ones():
    assert set(benches_of_all()) == set(BENCHES) - set(NOT_IN_ALL)
    assert set(NOT_IN_ALL) >= {"all", "nodes"}


@pytest.mark.parametrize("name", BENCHES)
def test_every_bench_explains_itself(name):
    explained = CliRunner().invoke(command, [name, "--help"])
    assert explained.exit_code == 0
    assert "--quick" in explained.output


def test_the_last_json_object_of_an_output_is_found():
    assert last_object(b'progress\n{"a": 1}\n') == {"a": 1}
    assert last_object(b'{"a": 1}\nafterthought\n') == {"a": 1}
    assert last_object(b"nothing\n[1]\n") is None
    assert last_object(b"") is None


@pytest.mark.parametrize(
    ("program", "problem", "result"),
    [
        ("print('{\"x\": 2}')", "", {"x": 2}),
        ("print('hm')", "no JSON in its last line", {}),
        ("import sys; sys.exit(3)", "exit code 3", {}),
        ("import time; time.sleep(60)", "not done after 1 s", {}),
    ],
)
def test_a_failure_of_a_bench_is_reported_and_not_raised(monkeypatch, tmp_path, program, problem, result):
    fake = tmp_path / "python"
    fake.write_text(f"#!{sys.executable}\n{textwrap.dedent(program)}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(bench_all.sys, "executable", str(fake))
    outcome = run_one("cancel", quick=True, timeout_s=1.0)
    assert (outcome.problem, outcome.result) == (problem, result)
    assert outcome.command == "geotts bench cancel --quick"


def test_the_page_of_bench_all_has_a_table_for_each_bench_and_names_failures():
    found = {"by_n": {"1": {"acc_25": 12.5}, "8": {"acc_25": 20.0, "p50_s": None}}, "count": 4, "per": {"Latn": 1.0},
             "list": [1, 2], "machine": "m", "bench": "photos"}  # fmt: skip
    text = page([Outcome("photos", "geotts bench photos", 3, found), Outcome("cancel", "x", 1, {}, "exit code 1")],
                quick=True)  # fmt: skip
    for part in ("| 8 | 20 | – |", "| count | 4 |", "| Latn | 1 |", "| list | [1,2] |", "**Failed**: exit code 1.",
                 "**Did not run**: cancel", "rough figures", "Versions: geotts"):  # fmt: skip
        assert part in text
    assert "| machine |" not in text
