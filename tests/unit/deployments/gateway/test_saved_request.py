"""What is kept of a request for another gateway: the order of its checkpoints, and the time that it has left."""

import asyncio
import time

import pytest
from support.basics import virtual_time

from deployments.gateway.lease import Lease
from deployments.gateway.saved_request import SavedRequest, _remaining_s, before_second_checkpoints
from tts.domain.request import LocateOptions
from tts.domain.usage import Usage
from tts.ports.rollout_groups import Checkpoint


def a_checkpoint(rollout, turn):
    return Checkpoint(rollout_id=rollout, turn=turn, messages=(), usage=Usage())


def test_a_batch_is_split_before_the_second_checkpoint_of_a_rollout():
    first, other, second = a_checkpoint(0, 1), a_checkpoint(1, 1), a_checkpoint(0, 2)
    batch = [first, "end of 1", other, "end of 1", second, "end of 2"]
    assert list(before_second_checkpoints(batch)) == [batch[:4], batch[4:]]
    assert list(before_second_checkpoints(batch[:4])) == [batch[:4]]


@pytest.mark.parametrize(
    ("wall_s", "elapsed_s", "left_s"),
    [(40.0, 20.0, 40.0), (3600.0, 20.0, 70.0), (-3600.0, 20.0, -3600.0)],
    ids=["clocks agree", "the first clock was an hour ahead", "it was an hour late"],
)
def test_a_wrong_clock_gives_a_request_no_more_time_than_it_had(wall_s, elapsed_s, left_s):
    kept = SavedRequest(options=LocateOptions(), deadline_at=time.time() + wall_s, deadline_s=90.0)
    assert _remaining_s(kept, elapsed_s) == pytest.approx(left_s, abs=1.0)


@virtual_time
async def test_a_lease_counts_from_the_question_to_the_store_and_work_waits_for_renewal():
    loop = asyncio.get_running_loop()
    lease = Lease(10.0, loop.time())
    await lease.wait_until_valid()
    asked_at = loop.time()
    await asyncio.sleep(11.0)
    lease.renew(asked_at)  # the reply of before a stop
    assert not lease.is_valid
    waiting = asyncio.create_task(lease.wait_until_valid())
    await asyncio.sleep(1.0)
    assert not waiting.done()
    lease.renew(loop.time())
    await waiting
