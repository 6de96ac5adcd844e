"""A group that loses its replica goes on from its checkpoints; on a virtual clock."""

import asyncio

from support.basics import a_context, leftover_tasks, virtual_time

from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, RolloutResumed, RolloutStarted, Text, TurnFinished
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.plan import Limits
from tts.domain.trajectory import fold
from tts.domain.usage import Usage
from tts.errors import FatalError, ModelError, Overloaded, ReplicaLost
from tts.ports.rollout_groups import Checkpoint, GroupRequest, RolloutTask
from tts.ports.toolbox import Attachment
from tts.rollout.group_failover import MOVES, run_with_failover

PARIS = Hypothesis(point=LatLon(lat=48.86, lon=2.35))


def group(n=2, seconds=60.0):
    tasks = tuple(RolloutTask(rollout_id=i, seed=i) for i in range(n))
    return GroupRequest(a_context(seconds), (), tasks, n_total=n, limits=Limits())


def a_checkpoint(i, turn):
    return Checkpoint(rollout_id=i, turn=turn, messages=(), usage=Usage(turns=turn + 1), best=PARIS)


def turn(i, number, text):
    spent = Usage(turns=number + 1)
    return [
        Text(rollout_id=i, turn=number, text=text),
        TurnFinished(rollout_id=i, turn=number, usage=spent),
        a_checkpoint(i, number),
    ]


def rollout_finished(i):
    return RolloutFinished(rollout_id=i, stop_reason=StopReason.ANSWERED, answer=PARIS)


class Replicas:
    """Each call plays the next script: lists are batches, exceptions are raised."""

    def __init__(self, *scripts, pause_s=0.5):
        self.scripts = list(scripts)
        self.pause_s = pause_s
        self.asked = []

    async def __call__(self, request):
        self.asked.append(request)
        for step in self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]:
            await asyncio.sleep(self.pause_s)
            if isinstance(step, Exception):
                raise step
            yield step


async def run_group_items(request, replicas):
    return [item async for batch in run_with_failover(request, replicas) for item in batch]


@virtual_time
async def test_a_lost_replica_costs_a_rollout_its_unfinished_turn_only():
    start = [RolloutStarted(rollout_id=i, seed=i) for i in range(2)]
    lost = [
        start,
        turn(0, 0, "a") + turn(1, 0, "b"),
        [rollout_finished(1), Text(rollout_id=0, turn=1, text="void")],
        ReplicaLost(),
    ]
    again = [[RolloutResumed(rollout_id=0, from_turn=0)], [*turn(0, 1, "c"), rollout_finished(0)]]
    replicas = Replicas(lost, again)
    items = await run_group_items(group(), replicas)
    resumed = replicas.asked[1]
    assert [(task.rollout_id, task.resume_from.turn) for task in resumed.tasks] == [(0, 0)]
    assert 50 < resumed.context.remaining_s < 59
    run = fold(item for item in items if not isinstance(item, Checkpoint | Attachment))
    assert [t.text for t in run.rollouts[0].turns] == ["a", "c"]
    assert run.rollouts[0].resumed == 1
    assert {t.stop_reason for t in run.trajectories} == {StopReason.ANSWERED}
    assert not leftover_tasks()


@virtual_time
async def test_a_rollout_without_a_checkpoint_starts_over_and_its_text_is_void():
    start = RolloutStarted(rollout_id=0, seed=0)
    replicas = Replicas(
        [[start, Text(rollout_id=0, turn=0, text="void")], FatalError("engine")],
        [[start, *turn(0, 0, "a"), rollout_finished(0)]],
    )
    run = fold(i for i in await run_group_items(group(1), replicas) if not isinstance(i, Checkpoint))
    assert [t.text for t in run.rollouts[0].turns] == ["a"]


@virtual_time
async def test_pictures_that_tools_made_are_sent_to_the_next_replica():
    picture = Attachment(sha256="ab", media_type="image/png", data=b"x")
    replicas = Replicas([[picture, *turn(0, 0, "a")], ReplicaLost()], [[rollout_finished(0)]])
    await run_group_items(group(1), replicas)
    assert replicas.asked[1].files == {"ab": b"x"}


@virtual_time
async def test_rollouts_without_a_replica_left_end_with_their_best_hypotheses():
    replicas = Replicas([turn(0, 0, "a"), ReplicaLost("gone")], [ReplicaLost("gone")], pause_s=0.0)
    items = await run_group_items(group(2), replicas)
    ends = [item for item in items if isinstance(item, RolloutFinished)]
    assert [(end.rollout_id, end.stop_reason, end.answer) for end in ends] == [
        (0, StopReason.FAILED, PARIS),
        (1, StopReason.FAILED, None),
    ]
    assert ends[0].error == "replica-lost: gone"
    assert len(replicas.asked) == MOVES + 1


@virtual_time
async def test_a_group_tries_no_further_replica_after_its_deadline():
    replicas = Replicas([ReplicaLost()], pause_s=1.0)
    started = asyncio.get_running_loop().time()
    await run_group_items(group(1, seconds=5.0), replicas)
    assert asyncio.get_running_loop().time() - started <= 6.0


@virtual_time
async def test_a_full_queue_or_a_broken_engine_is_not_tried_elsewhere():
    for failure in (Overloaded(), ModelError("no")):
        replicas = Replicas([failure])
        items = await run_group_items(group(1), replicas)
        assert [item.stop_reason for item in items] == [StopReason.FAILED]
        assert len(replicas.asked) == 1
