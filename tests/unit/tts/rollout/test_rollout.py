"""One rollout, on a scripted engine and a virtual clock: every way it can go and every way it can end."""

import asyncio
import json

import pytest
from support.basics import a_context, leftover_tasks, virtual_time
from support.dialect_rollouts import Recording

from tts.aio import closing
from tts.config import ScriptedEngine
from tts.dialects.served.generic import GenericDialect
from tts.domain.answer import StopReason
from tts.domain.events import (
    Hypothesised,
    RolloutFinished,
    RolloutResumed,
    RolloutStarted,
    Text,
    ToolCalled,
    ToolResulted,
    TurnFinished,
)
from tts.domain.plan import Limits
from tts.domain.request import LocateOptions
from tts.errors import GivenAway, ToolError, ToolErrorKind
from tts.inference.scripted.engine import ScriptedCall, ScriptedModel, ScriptedTurn
from tts.ports.rollout_groups import Checkpoint, GroupRequest, RolloutItem, RolloutTask
from tts.rollout.agent import Agent
from tts.rollout.group import run_group, split
from tts.toolkit.spec import Arguments, FunctionTool, Observation, ToolSpec
from tts.toolkit.toolbox import LocalToolbox

PARIS = json.dumps({"lat": 48.8566, "lon": 2.3522, "city": "Paris", "country": "France"})


class Query(Arguments):
    query: str = ""


def toolbox(log=None, seconds=0.0):
    async def look(arguments, context):
        await asyncio.sleep(seconds)
        if log is not None:
            log.append(arguments.query)
        if arguments.query == "nowhere":
            raise ToolError("no such place", kind=ToolErrorKind.NOT_FOUND)
        if arguments.query == "crash":
            raise ZeroDivisionError
        return Observation(text=f"found {arguments.query}")

    return LocalToolbox([FunctionTool(ToolSpec("look", "Look it up.", timeout_s=5), Query, look)])


def calls(*queries):
    return tuple(ScriptedCall(name="look", arguments={"query": q}) for q in queries)


def agent(*turns, tools=None):
    script = tuple(turn.model_copy(update={"turn": i}) for i, turn in enumerate(turns))
    return Agent(ScriptedModel(ScriptedEngine(), script), GenericDialect(), tools or toolbox())


def group(seconds=60.0, n=1, **changes):
    limits = Limits(**{"max_turns": 8, "max_tool_calls": 16, "max_tokens": 4096, **changes.pop("limits", {})})
    tasks = changes.pop("tasks", tuple(RolloutTask(rollout_id=i, seed=i) for i in range(n)))
    return GroupRequest(
        context=a_context(seconds),
        photos=(),
        tasks=tasks,
        n_total=len(tasks),
        limits=limits,
        **changes,
    )


async def run(an_agent, a_group=None):
    a_group = a_group or group()
    async with closing(run_group(an_agent, a_group, coalesce_s=0.0)) as batches:
        return [item async for batch in batches for item in batch]


def items_of(items, kind):
    return [item for item in items if isinstance(item, kind)]


@virtual_time
async def test_a_rollout_thinks_acts_observes_and_answers():
    items = await run(
        agent(ScriptedTurn(text="A sign says Paris.", calls=calls("Paris", "Lyon")), ScriptedTurn(text=f"So: {PARIS}"))
    )
    kinds = [type(item) for item in items if not isinstance(item, Text)]
    assert kinds == [
        RolloutStarted, ToolCalled, ToolCalled, ToolResulted, ToolResulted, TurnFinished, Checkpoint,
        Hypothesised, TurnFinished, RolloutFinished,
    ]  # fmt: skip
    assert "".join(t.text for t in items_of(items, Text) if t.turn == 0) == "A sign says Paris."
    assert [r.result.text for r in items_of(items, ToolResulted)] == ["found Paris", "found Lyon"]
    (end,) = items_of(items, RolloutFinished)
    assert end.stop_reason is StopReason.ANSWERED
    assert end.answer.city == "Paris"
    assert (end.usage.turns, end.usage.tool_calls, end.usage.model_calls) == (2, 2, 2)


@virtual_time
async def test_calls_of_a_turn_run_side_by_side_and_keep_their_order():
    started = asyncio.get_running_loop().time()
    items = await run(
        agent(ScriptedTurn(calls=calls("a", "b", "c")), ScriptedTurn(text=PARIS), tools=toolbox(seconds=2.0))
    )
    assert asyncio.get_running_loop().time() - started == pytest.approx(2.0, abs=0.1)
    assert [r.result.text for r in items_of(items, ToolResulted)] == ["found a", "found b", "found c"]


@virtual_time
async def test_a_tool_error_is_told_to_the_model_and_the_rollout_goes_on():
    items = await run(agent(ScriptedTurn(calls=calls("nowhere")), ScriptedTurn(text=PARIS)))
    (result,) = [r.result for r in items_of(items, ToolResulted)]
    assert result.failure.kind is ToolErrorKind.NOT_FOUND
    (checkpoint,) = items_of(items, Checkpoint)
    assert "no such place" in checkpoint.messages[-1].text
    assert items_of(items, RolloutFinished)[0].stop_reason is StopReason.ANSWERED
    assert items_of(items, RolloutFinished)[0].usage.tool_errors == 1


@virtual_time
async def test_wrong_arguments_and_unknown_tools_are_explained():
    bad = (ScriptedCall(name="look", arguments={"query": [1]}), ScriptedCall(name="teleport"))
    items = await run(agent(ScriptedTurn(calls=bad), ScriptedTurn(text=PARIS)))
    first, second = (r.result.failure for r in items_of(items, ToolResulted))
    assert (first.kind, second.kind) == (ToolErrorKind.INVALID_ARGUMENTS, ToolErrorKind.UNKNOWN_TOOL)
    assert "query" in first.detail
    assert "look" in second.detail


@virtual_time
async def test_a_slow_tool_is_cut_off_at_its_timeout():
    items = await run(agent(ScriptedTurn(calls=calls("a")), ScriptedTurn(text=PARIS), tools=toolbox(seconds=30)))
    assert items_of(items, ToolResulted)[0].result.failure.kind is ToolErrorKind.TIMEOUT
    assert asyncio.get_running_loop().time() == pytest.approx(5, abs=0.1)


@virtual_time
async def test_a_crashed_tool_ends_this_rollout_with_its_best_hypothesis():
    items = await run(agent(ScriptedTurn(calls=calls("crash"))))
    (end,) = items_of(items, RolloutFinished)
    assert end.stop_reason is StopReason.FAILED
    assert "ZeroDivisionError" in end.error
    assert end.answer is None


@virtual_time
async def test_a_dialect_that_crashes_on_a_turn_ends_this_rollout():
    class Fragile(GenericDialect):
        def parse(self, completion, *, turn):
            raise KeyError(completion.text)

    model = ScriptedModel(ScriptedEngine(), (ScriptedTurn(text=PARIS),))
    (end,) = items_of(await run(Agent(model, Fragile(), toolbox())), RolloutFinished)
    assert (end.stop_reason, end.error) == (StopReason.FAILED, "model: rollout failed: KeyError")


@virtual_time
async def test_a_failing_engine_ends_this_rollout():
    items = await run(agent(ScriptedTurn(text="I see", error="out of memory")))
    (end,) = items_of(items, RolloutFinished)
    assert (end.stop_reason, end.error) == (StopReason.FAILED, "model: out of memory")


@virtual_time
async def test_the_last_turn_has_no_tools_and_demands_the_answer():
    items = await run(
        agent(ScriptedTurn(calls=calls("a")), ScriptedTurn(calls=calls("b")), ScriptedTurn(text=PARIS)),
        group(limits={"max_turns": 3}),
    )
    assert items_of(items, RolloutFinished)[0].stop_reason is StopReason.ANSWERED
    stubborn = await run(
        agent(ScriptedTurn(calls=calls("a")), ScriptedTurn(calls=calls("b"))), group(limits={"max_turns": 2})
    )
    assert items_of(stubborn, RolloutFinished)[0].stop_reason is StopReason.BUDGET
    assert len(items_of(stubborn, ToolResulted)) == 1


@virtual_time
async def test_a_spent_tool_budget_leads_to_the_forced_answer():
    items = await run(
        agent(ScriptedTurn(calls=calls("a", "b", "c")), ScriptedTurn(text=PARIS)), group(limits={"max_tool_calls": 2})
    )
    failures = [r.result.failure for r in items_of(items, ToolResulted)]
    assert failures[:2] == [None, None]
    assert failures[2].kind is ToolErrorKind.BUDGET
    end = items_of(items, RolloutFinished)[0]
    assert (end.stop_reason, end.usage.tool_calls) == (StopReason.ANSWERED, 2)


@virtual_time
async def test_a_spent_token_budget_ends_the_rollout():
    chatter = ScriptedTurn(text="word " * 40, calls=calls("a"))
    items = await run(agent(chatter, chatter, chatter), group(limits={"max_tokens": 50}))
    assert items_of(items, RolloutFinished)[0].stop_reason is StopReason.BUDGET
    assert len(items_of(items, TurnFinished)) == 2


@virtual_time
async def test_the_deadline_cuts_a_generation_and_keeps_the_best_hypothesis():
    slow = ScriptedTurn(text="word " * 1000, token_s=1.0)
    items = await run(agent(ScriptedTurn(calls=calls("a")), slow), group(seconds=10))
    assert items_of(items, RolloutFinished)[0].stop_reason is StopReason.DEADLINE
    assert asyncio.get_running_loop().time() == pytest.approx(10, abs=0.01)


@virtual_time
async def test_tokens_of_a_turn_that_was_cut_are_counted():
    cut = await run(agent(ScriptedTurn(text="word " * 1000, token_s=1.0)), group(seconds=10))
    ended = items_of(cut, RolloutFinished)[0]
    assert ended.stop_reason is StopReason.DEADLINE
    assert (ended.usage.model_calls, ended.usage.turns) == (1, 0)
    assert ended.usage.completion_tokens > 0
    assert ended.usage.prompt_tokens > 0


@virtual_time
async def test_with_little_time_left_the_answer_is_demanded_before_the_deadline():
    model = Recording(ScriptedTurn(text="thinking very hard", token_s=3.0, calls=calls("a")), ScriptedTurn(text=PARIS))
    items = await run(Agent(model, GenericDialect(), toolbox()), group(seconds=10))
    assert items_of(items, RolloutFinished)[0].stop_reason is StopReason.ANSWERED
    assert [bool(request.tools) for request in model.requests] == [True, False]
    assert "time is used up" in model.requests[1].messages[-1].text


@virtual_time
async def test_an_unusable_turn_is_corrected_a_few_times_then_it_fails():
    recovered = await run(agent(ScriptedTurn(text="Somewhere nice."), ScriptedTurn(text=PARIS)))
    assert items_of(recovered, RolloutFinished)[0].stop_reason is StopReason.ANSWERED
    assert "neither a tool call nor a JSON object" in items_of(recovered, Checkpoint)[0].messages[-1].text
    hopeless = await run(agent(*[ScriptedTurn(text="Hmm.")] * 5))
    assert items_of(hopeless, RolloutFinished)[0].stop_reason is StopReason.FAILED
    assert items_of(hopeless, RolloutFinished)[0].usage.turns == 3


@virtual_time
async def test_tools_outside_the_allow_list_are_neither_offered_nor_run():
    log: list[str] = []
    items = await run(
        agent(ScriptedTurn(calls=calls("a")), ScriptedTurn(text=PARIS), tools=toolbox(log)),
        group(options=LocateOptions(tools=("zoom",))),
    )
    assert log == []
    assert not items_of(items, ToolCalled)
    assert "there are no tools here" in items_of(items, Checkpoint)[0].messages[-1].text
    assert items_of(items, RolloutFinished)[0].stop_reason is StopReason.ANSWERED


@virtual_time
async def test_a_rollout_continues_from_its_checkpoint():
    script = (
        ScriptedTurn(text="first", calls=calls("a")),
        ScriptedTurn(text="second", calls=calls("b")),
        ScriptedTurn(text=PARIS),
    )
    whole = await run(agent(*script))
    saved = items_of(whole, Checkpoint)[0]
    again = await run(agent(*script), group(tasks=(RolloutTask(rollout_id=0, seed=0, resume_from=saved),)))
    assert items_of(again, RolloutResumed)[0].from_turn == 0
    assert next(t.text for t in items_of(again, Text)) == "second"
    assert items_of(again, RolloutFinished)[0].answer == items_of(whole, RolloutFinished)[0].answer
    assert items_of(again, RolloutFinished)[0].usage == items_of(whole, RolloutFinished)[0].usage


@virtual_time
async def test_the_last_turn_is_saved_before_the_answer_draws_and_not_repeated_on_resume():
    script, limits = [ScriptedTurn(text="first", calls=calls("a")), ScriptedTurn(text=PARIS)], {"answer_draws": 3}
    whole = await run(agent(*script), group(limits=limits))
    saved = items_of(whole, Checkpoint)[-1]
    assert (saved.turn, saved.stop) == (1, StopReason.ANSWERED)
    assert whole.index(saved) > whole.index(items_of(whole, TurnFinished)[-1])
    resumed = RolloutTask(rollout_id=0, seed=0, resume_from=saved)
    again = await run(agent(*script), group(limits=limits, tasks=(resumed,)))
    assert [type(item) for item in again] == [RolloutResumed, RolloutFinished]
    assert items_of(again, RolloutFinished)[0].answer == items_of(whole, RolloutFinished)[0].answer


@virtual_time
async def test_a_group_whose_work_was_given_away_begins_no_further_turn():
    asked = []

    async def may_begin():
        asked.append(1)
        if len(asked) > 1:
            raise GivenAway("another has it")

    an_agent = agent(ScriptedTurn(text="first", calls=calls("a")), ScriptedTurn(text=PARIS))
    seen: list[RolloutItem] = []
    with pytest.raises(GivenAway):
        async for batch in run_group(an_agent, group(may_begin=may_begin), coalesce_s=0.0):
            seen += batch
    assert [item.turn for item in items_of(seen, TurnFinished)] == [0]
    assert items_of(seen, RolloutFinished) == []


@virtual_time
async def test_closing_a_rollout_aborts_the_engine_and_the_tools():
    log: list[str] = []
    an_agent = agent(ScriptedTurn(text="word " * 1000, token_s=1.0), tools=toolbox(log, seconds=100))
    async with closing(run_group(an_agent, group(), coalesce_s=0.0)) as batches:
        async for batch in batches:
            if items_of(batch, Text):
                assert an_agent.model.running == 1
                break
    assert an_agent.model.running == 0
    assert not leftover_tasks()


@virtual_time
async def test_a_group_runs_side_by_side_and_one_failure_leaves_the_others_alone():
    script = (
        ScriptedTurn(rollout=0, turn=0, text="boom", error="dead"),
        ScriptedTurn(rollout=1, turn=0, text=f"x {PARIS}", token_s=0.5),
        ScriptedTurn(rollout=2, turn=0, text=f"y {PARIS}", token_s=0.5),
    )
    an_agent = Agent(ScriptedModel(ScriptedEngine(), script), GenericDialect(), toolbox())
    batches = [batch async for batch in run_group(an_agent, group(n=3), coalesce_s=0.025)]
    ends = {e.rollout_id: e.stop_reason for batch in batches for e in batch if isinstance(e, RolloutFinished)}
    assert ends == {0: StopReason.FAILED, 1: StopReason.ANSWERED, 2: StopReason.ANSWERED}
    assert asyncio.get_running_loop().time() < 10
    texts = [e for batch in batches for e in batch if isinstance(e, Text)]
    assert len(texts) < 60


@virtual_time
async def test_a_group_that_nobody_follows_sends_fewer_batches_and_ends_as_soon():
    script = tuple(
        ScriptedTurn(rollout=i, turn=0, text=f"one two three four five six {PARIS}", token_s=0.02) for i in range(2)
    )
    an_agent = Agent(ScriptedModel(ScriptedEngine(), script), GenericDialect(), toolbox())

    async def seen(**more):
        started = asyncio.get_running_loop().time()
        batches = [batch async for batch in run_group(an_agent, group(n=2, **more), coalesce_s=0.025)]
        texts: dict[int, str] = {}
        for event in (e for batch in batches for e in batch if isinstance(e, Text)):
            texts[event.rollout_id] = texts.get(event.rollout_id, "") + event.text
        return len(batches), texts, asyncio.get_running_loop().time() - started

    followed, unfollowed = await seen(), await seen(followed=False)
    assert unfollowed[0] < followed[0]
    assert unfollowed[1] == followed[1]
    assert unfollowed[2] == pytest.approx(followed[2], abs=0.001)


@pytest.mark.parametrize(
    ("n", "size", "expected"),
    [(8, 8, [8]), (8, 4, [4, 4]), (7, 4, [4, 3]), (1, 4, [1]), (9, 4, [3, 3, 3]), (3, 1, [1, 1, 1])],
)
def test_rollouts_are_split_evenly(n, size, expected):
    groups = split(n, size)
    assert [len(ids) for ids in groups] == expected
    assert [i for ids in groups for i in ids] == list(range(n))


async def starts_of_three(of, prefix_wait_s):
    """When each of three rollouts starts, in seconds."""
    tasks = tuple(RolloutTask(rollout_id=i, seed=i) for i in range(3))
    request = GroupRequest(a_context(), (), tasks, n_total=3, limits=Limits())
    started = {}
    async for batch in run_group(of, request, coalesce_s=0.0, prefix_wait_s=prefix_wait_s):
        for item in batch:
            if isinstance(item, RolloutStarted):
                started[item.rollout_id] = asyncio.get_running_loop().time()
    return started


@virtual_time
async def test_the_leader_goes_first_and_the_others_follow_at_its_first_token():
    slow = agent(ScriptedTurn(text=f"one two {PARIS}", first_token_s=2.0, token_s=1.0))
    assert await starts_of_three(slow, prefix_wait_s=30.0) == {0: 0.0, 1: 3.0, 2: 3.0}
    assert not leftover_tasks()


@virtual_time
async def test_siblings_wait_for_the_first_token_of_the_leader_for_a_limited_time():
    thoughtful = agent(ScriptedTurn(text=PARIS, first_token_s=60.0))
    assert await starts_of_three(thoughtful, prefix_wait_s=3.0) == {0: 0.0, 1: 3.0, 2: 3.0}
    assert not leftover_tasks()


@virtual_time
async def test_a_leader_that_fails_at_once_does_not_delay_its_siblings():
    broken = agent(ScriptedTurn(error="no"))
    tasks = tuple(RolloutTask(rollout_id=i, seed=i) for i in range(3))
    request = GroupRequest(a_context(), (), tasks, n_total=3, limits=Limits())
    ends = [
        item
        async for batch in run_group(broken, request, coalesce_s=0.0, prefix_wait_s=30.0)
        for item in batch
        if isinstance(item, RolloutFinished)
    ]
    assert len(ends) == 3
