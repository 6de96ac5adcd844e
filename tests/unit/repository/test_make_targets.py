"""What the documentation says about `make` is true: continuous integration runs what a block claims that it runs."""

import re
import subprocess

import pytest
from support.docs_blocks import ROOT, blocks_of, documents

_GOAL = re.compile(r"^(?:exec )?make ([a-z-]+)", re.MULTILINE)
_CONSIDERED = re.compile(r"Considering target file ['`]([a-z-]+)'")
BLOCKS = [block for path in documents() for block in blocks_of(path) if _GOAL.search(block.text)]


def reached_from(goals):
    """The targets that make would run for these goals, those of the makes that it starts too."""
    done = subprocess.run(
        ["make", "-n", "--debug=v", *goals],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/bin:/usr/bin"},
    )
    assert done.returncode == 0, done.stderr
    return set(_CONSIDERED.findall(done.stdout))


@pytest.fixture(scope="module")
def run_by_ci():
    goals = _GOAL.findall((ROOT / ".ci" / "run").read_text())
    assert {"demo", "test-all"} <= set(goals)
    return reached_from(goals)


def test_ci_runs_the_static_checks_and_every_kind_of_test(run_by_ci):
    assert {"style", "types", "test", "test-docs", "test-vllm"} <= run_by_ci


def test_the_targets_that_users_read_first_are_among_the_blocks():
    assert {"demo", "quick", "test", "serve", "setup"} <= {
        goal for block in BLOCKS for goal in _GOAL.findall(block.text)
    }


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_of_make_targets_says_truly_whether_ci_runs_them(run_by_ci, block):
    named = set(_GOAL.findall(block.text))
    if block.shown_only.startswith("make targets"):
        assert named <= run_by_ci
    else:
        assert block.shown_only.startswith("a make target that .ci/run does not run; ")
        assert not named & run_by_ci


def test_quick_and_serve_do_only_what_is_run_elsewhere():
    assert reached_from(["quick"]) - {"quick"} <= reached_from(["test"])
    assert reached_from(["serve"]) == {"serve", "setup"}
    commands = {
        line for path in documents() for block in blocks_of(path) if not block.shown_only for line in block.commands()
    }
    assert any(re.match(r"geotts serve( |$)", line) for line in commands)
