"""What the documentation says about `make` is true: continuous integration runs what a block claims that it runs."""

import re
import subprocess

import pytest
from support.docs_blocks import ROOT, blocks_of, documents

_GOAL = re.compile(r"^(?:exec )?make ([a-z-]+)", re.MULTILINE)
_BY_TEST = re.compile(r"a make target; (tests/cluster/test_docs_\S+\.py) runs it$")
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
    assert {"style", "types", "quick", "test", "test-docs", "test-vllm"} <= run_by_ci


def test_the_targets_that_users_read_first_are_among_the_blocks():
    assert {"demo", "quick", "test", "serve", "setup"} <= {
        goal for block in BLOCKS for goal in _GOAL.findall(block.text)
    }


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_of_make_targets_names_the_test_or_job_that_runs_them(run_by_ci, block):
    named = set(_GOAL.findall(block.text))
    if by_test := _BY_TEST.match(block.shown_only):
        text = (ROOT / by_test[1]).read_text("utf-8")
        assert all(f'"{goal}"' in text for goal in named)
    else:
        assert block.shown_only.startswith("make targets; .ci/run runs ")
        assert named <= run_by_ci
