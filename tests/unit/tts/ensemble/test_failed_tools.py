"""Which calls say that a tool could not serve: of the rollouts, of the verifier, and of an earlier request."""

import pytest

from tts.domain.tooling import ToolErrorKind, ToolFailure, ToolResult
from tts.domain.trajectory import Run, Trajectory, Turn
from tts.ensemble.failed_tools import tool_warnings, tools_failure


def result(kind=None, name="web_search", *, kept=False, retry_after_s=None):
    failure = None if kind is None else ToolFailure(kind=kind, detail="x", retry_after_s=retry_after_s)
    return ToolResult(call_id="c1", name=name, text="", failure=failure, kept=kept)


def rollout(*results):
    return Trajectory(rollout_id=0, turns=(Turn(index=0, results=results),))


DOWN = result(ToolErrorKind.UNAVAILABLE)
BUSY = result(ToolErrorKind.QUOTA, retry_after_s=3600)


def test_the_failure_names_tools_kinds_and_the_longest_wait():
    failure = tools_failure(rollout(DOWN, BUSY, result(ToolErrorKind.TIMEOUT, "geocode")))
    assert failure.detail == "no tool call was served: geocode (timeout), web_search (quota and unavailable)"
    assert (failure.code, failure.retry_after_s) == ("tools-failed", 3600)


@pytest.mark.parametrize(
    "results",
    [
        (),
        (DOWN, result()),
        (DOWN, result(ToolErrorKind.NOT_FOUND, "geocode")),
        (result(ToolErrorKind.INVALID_ARGUMENTS), result(ToolErrorKind.BLOCKED), result(ToolErrorKind.BUDGET)),
        (result(ToolErrorKind.UNAVAILABLE, kept=True),),
    ],
)
def test_a_rollout_without_calls_or_with_one_that_was_served_has_not_failed(results):
    assert tools_failure(rollout(*results)) is None


def test_a_kept_result_of_an_earlier_request_is_no_served_call():
    assert tools_failure(rollout(DOWN, result(kept=True))) is not None


def test_warnings_name_only_tools_whose_every_call_failed():
    run = Run(rollouts={0: rollout(DOWN, DOWN, result(ToolErrorKind.TIMEOUT, "geocode"))})
    assert tool_warnings(run) == (
        "every call of geocode failed (1 call): timeout",
        "every call of web_search failed (2 calls): unavailable",
    )
    asked = Turn(index=0, results=(result(), result(ToolErrorKind.TIMEOUT, "poi_detail")))
    assert tool_warnings(run.model_copy(update={"inquiry": (asked,)})) == (
        "every call of geocode failed (1 call): timeout",
    )
