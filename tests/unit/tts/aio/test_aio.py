import asyncio
import itertools
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.basics import leftover_tasks, virtual_time

from tts.aio import Channel, Deadline, Limiter, Milestone, Turnstile, batches, coalesce, heeding_cancels, merge, stream
from tts.errors import Overloaded


async def ticks(n, gap_s=0.0, fail_at=None, log=None):
    try:
        for i in range(n):
            if gap_s:
                await asyncio.sleep(gap_s)
            if i == fail_at:
                raise ValueError(f"at {i}")
            yield i
    finally:
        if log is not None:
            await asyncio.sleep(0)
            log.append("closed")


@virtual_time
@pytest.mark.parametrize("ends", ["well", "badly"])
async def test_a_cancellation_that_a_library_forgets_is_heeded(ends):
    went_on = False

    async def work():
        nonlocal went_on
        with heeding_cancels():
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                if ends == "badly":
                    raise ValueError("lost") from None
        went_on = True

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert not went_on


async def test_an_earlier_cancellation_does_not_end_the_clean_up_after_it():
    cleaned = False

    async def work():
        nonlocal cleaned
        try:
            await asyncio.sleep(60)
        finally:
            with heeding_cancels():
                await asyncio.sleep(0)
            cleaned = True

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert cleaned


async def test_a_stream_yields_what_is_sent_then_raises_what_was_raised():
    async def produce(send):
        await send(1)
        await send(2)
        raise ValueError("broken")

    got = []
    with pytest.raises(ValueError, match="broken"):
        async for item in stream(produce):
            got.append(item)
    assert got == [1, 2]
    assert not leftover_tasks()


@virtual_time
async def test_a_stream_whose_producer_was_cancelled_raises_the_cancellation():
    """As when a call it awaits is cancelled on the other side of the network."""

    async def produce(send):
        await send(1)
        raise asyncio.CancelledError

    got = []
    with pytest.raises(asyncio.CancelledError):
        async for item in stream(produce):
            got.append(item)
    assert got == [1]


@virtual_time
async def test_closing_a_stream_cancels_its_producer_and_waits_for_it():
    log = []

    async def produce(send):
        try:
            for i in range(10**6):
                await send(i)
        finally:
            await asyncio.sleep(1)
            log.append("cleaned up")

    async with aclosing(stream(produce, maxsize=2)) as items:
        async for item in items:
            if item == 3:
                break
    assert log == ["cleaned up"]
    assert not leftover_tasks()


@virtual_time
async def test_a_full_channel_holds_the_sender_back():
    channel: Channel[int] = Channel(maxsize=2)
    items_sent = []

    async def send_all():
        for i in range(5):
            await channel.send(i)
            items_sent.append(i)
        channel.close()

    async with asyncio.TaskGroup() as group:
        group.create_task(send_all())
        await asyncio.sleep(1)
        assert items_sent == [0, 1]
        got = []
        while await channel.wait():
            got.append(channel.take())
    assert got == [0, 1, 2, 3, 4]


@virtual_time
async def test_merge_interleaves_by_time_and_closes_every_source():
    log: list[str] = []
    sources = [ticks(3, 1.0, log=log), ticks(3, 1.5, log=log)]
    got = [item async for item in merge(sources)]
    assert got in ([0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 1, 2])  # both tick at 3 s
    assert log == ["closed", "closed"]


@virtual_time
async def test_the_first_failure_ends_a_merge_and_its_siblings():
    log: list[str] = []
    with pytest.raises(ValueError, match="at 1"):
        async for _ in merge([ticks(100, 1.0, log=log), ticks(5, 0.1, fail_at=1, log=log)]):
            pass
    assert sorted(log) == ["closed", "closed"]
    assert not leftover_tasks()


@virtual_time
async def test_an_abandoned_merge_closes_its_sources():
    log: list[str] = []
    async with aclosing(merge([ticks(100, 1.0, log=log), ticks(100, 1.0, log=log)])) as items:
        async for _ in items:
            break
    assert log == ["closed", "closed"]


@virtual_time
async def test_coalesce_gives_the_first_at_once_and_the_rest_in_windows():
    now = asyncio.get_running_loop().time
    batches = []
    async for batch in coalesce(ticks(100, 0.001), window_s=0.025):
        batches.append((round(now(), 3), batch))
    assert batches[0] == (0.001, [0])
    assert sum((batch for _, batch in batches), []) == list(range(100))
    gaps = [b[0] - a[0] for a, b in itertools.pairwise(batches)]
    assert min(gaps[:-1]) >= 0.0249
    assert batches[-1][0] == pytest.approx(0.1), "the last does not wait"
    assert len(batches) <= 6


@virtual_time
async def test_an_urgent_item_ends_its_batch_at_once():
    now = asyncio.get_running_loop().time
    came: dict[int, float] = {}

    async def produce(send):
        async for tick in ticks(50, 0.01):
            await send(tick)

    async for batch in batches(produce, window_s=0.2, urgent=lambda item: item == 7):
        came |= dict.fromkeys(batch, round(now(), 3))
    assert came[7] == came[1] == 0.08
    assert came[8] == 0.28


@virtual_time
async def test_patient_batches_wait_for_the_window_unless_the_stream_has_ended():
    now = asyncio.get_running_loop().time

    async def produce(send):
        for at in (0.0, 0.01, 0.3, 0.32):
            await asyncio.sleep(at - now() + start)
            await send(at)

    start, came = now(), []
    async for batch in batches(produce, window_s=0.05, patient=True):
        came.append((round(now() - start, 3), batch))
    assert came == [(0.05, [0.0, 0.01]), (0.32, [0.3, 0.32])]


@given(st.lists(st.floats(0, 0.1), max_size=20), st.floats(0.001, 0.2))
def test_coalesce_never_loses_or_reorders(gaps, window_s):
    async def source():
        for i, gap in enumerate(gaps):
            await asyncio.sleep(gap)
            yield i

    @virtual_time
    async def check():
        got = [item async for batch in coalesce(source(), window_s=window_s) for item in batch]
        assert got == list(range(len(gaps)))

    check()


@virtual_time
async def test_a_deadline_counts_down_and_cuts_a_block():
    deadline = Deadline(2.0)
    await asyncio.sleep(0.5)
    assert deadline.remaining_s() == pytest.approx(1.5)
    with pytest.raises(TimeoutError):
        async with deadline.timeout():
            await asyncio.sleep(10)
    assert deadline.has_passed
    assert asyncio.get_running_loop().time() == pytest.approx(2.0)


@virtual_time
async def test_a_limiter_queues_a_few_and_refuses_the_rest():
    limiter = Limiter(max_running=1, max_queued=1, retry_after_s=3.0)

    async def work():
        async with limiter.slot():
            await asyncio.sleep(1)

    first, second = asyncio.create_task(work()), asyncio.create_task(work())
    await asyncio.sleep(0)
    with pytest.raises(Overloaded) as refused:
        await work()
    assert refused.value.retry_after_s == 3.0
    await asyncio.gather(first, second)
    assert (limiter.running, limiter.queued) == (0, 0)
    await work()


@virtual_time
async def test_a_cancelled_waiter_gives_its_place_in_the_queue_back():
    limiter = Limiter(max_running=1, max_queued=1)
    async with limiter.slot():
        waiting = asyncio.create_task(anext(aiter(_held(limiter))))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
    assert (limiter.running, limiter.queued) == (0, 0)
    async with limiter.slot():
        assert limiter.running == 1


async def _held(limiter):
    async with limiter.slot():
        yield


@virtual_time
async def test_a_turnstile_lets_the_next_one_in_when_the_one_before_has_passed():
    turnstile, seen = Turnstile(longest_s=60), []

    async def work(name):
        passed = Milestone()
        await turnstile.enter(passed)
        await turnstile.enter(passed)  # whoever is inside need not wait for itself
        seen.append(name)
        await asyncio.sleep(1)
        seen.append(name)
        passed.reach()

    await asyncio.gather(*(work(name) for name in "abc"))
    assert "".join(seen) == "aabbcc"
    assert asyncio.get_running_loop().time() < 60


@virtual_time
async def test_a_turnstile_waits_for_nobody_longer_than_it_says():
    turnstile = Turnstile(longest_s=2)
    started = asyncio.get_running_loop().time()
    lost, passed = Milestone(), Milestone()
    await turnstile.enter(lost)
    await turnstile.enter(passed)
    assert asyncio.get_running_loop().time() - started == pytest.approx(2)
    lost.reach()  # too late: the place is another's
    waits = asyncio.create_task(turnstile.enter(Milestone()))
    await asyncio.sleep(1)
    assert not waits.done()
    passed.reach()
    await waits


async def test_a_turnstile_opens_for_who_waits_behind_one_that_gave_up():
    turnstile, inside = Turnstile(longest_s=60), Milestone()
    await turnstile.enter(inside)
    gives_up, waits = (asyncio.create_task(turnstile.enter(Milestone())) for _ in range(2))
    await asyncio.sleep(0)
    gives_up.cancel()
    await asyncio.sleep(0)
    assert not waits.done()
    inside.reach()
    async with asyncio.timeout(5):
        await waits
    assert gives_up.cancelled()
    assert turnstile.waiting == 0


@virtual_time
async def test_a_milestone_makes_the_calls_registered_before_and_after_it_was_reached():
    milestone, calls = Milestone(), []
    milestone.call_when_reached(lambda: calls.append("before"))
    waiting = asyncio.create_task(milestone.wait(at_most_s=60))
    await milestone.wait(at_most_s=1)
    assert calls == []
    milestone.reach()
    milestone.reach()
    milestone.call_when_reached(lambda: calls.append("after"))
    await waiting
    assert calls == ["before", "after"]
    assert asyncio.get_running_loop().time() < 60
