"""`solve` over fake ports and a virtual clock: whatever happens, one answer or error, then done, in order."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.basics import a_request, leftover_tasks, virtual_time

from tts.aio import closing, stream
from tts.domain.answer import Radius, StopReason, Verdict
from tts.domain.events import Hypothesised, RolloutFinished, RolloutStarted, Text
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.identity import Identity
from tts.domain.plan import Limits, Locatability
from tts.domain.stop_settings import WatchSettings
from tts.domain.trajectory import fold
from tts.errors import ModelError, Overloaded
from tts.inference.unreported_gpu_time import UNREPORTED_GPU_TIME
from tts.pipeline import Solution, solve
from tts.ports.locator import Routing
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment
from tts.ports.verification import VerdictText
from tts.routing.depth_router import DepthRouter

PARIS = Hypothesis(point=LatLon(lat=48.8566, lon=2.3522), city="Paris", level=Level.CITY)
VERDICT = Verdict(
    lat=48.8566, lon=2.3522, radius_km=Radius(p50=5, p90=20), level=Level.CITY, abstained=False, city="Paris",
    confidence=0.7, target_radius_km=25, explanation="They agree.",
)  # fmt: skip


class FakeLocator:
    def __init__(self, error=None):
        self.error = error

    async def rate(self, photos, context):
        await asyncio.sleep(0.1)
        if self.error:
            raise self.error
        return Routing(locatability=Locatability(score=0.9, method="fixed"))


class FakeRollouts:
    """Each rollout ends after its seconds, by its fate: answer, fail or hang."""

    def __init__(self, fates=(("answer", 1.0),), size=32):
        self.fates = fates
        self.size = size
        self.running = 0
        self.groups = []

    def group_size(self, group):
        return self.size

    async def run(self, group):
        self.groups.append(group)
        self.running += 1
        try:
            for task in group.tasks:
                fate, seconds = self.fates[task.rollout_id % len(self.fates)]
                yield [
                    RolloutStarted(rollout_id=task.rollout_id, seed=task.seed),
                    Text(rollout_id=task.rollout_id, turn=0, text="hm"),
                ]
                yield [
                    Hypothesised(rollout_id=task.rollout_id, turn=0, hypothesis=PARIS),
                    Attachment(sha256="ab", media_type="image/png", data=b"x"),
                ]
                await asyncio.sleep(10**6 if fate == "hang" else seconds)
                reason = StopReason.ANSWERED if fate == "answer" else StopReason.FAILED
                yield [
                    RolloutFinished(
                        rollout_id=task.rollout_id, stop_reason=reason, answer=PARIS if fate == "answer" else None
                    )
                ]
        finally:
            self.running -= 1


class FakeVerifier:
    def __init__(self, seconds=0.1, error=None, verdict=VERDICT):
        self.seconds = seconds
        self.error = error
        self.verdict = verdict
        self.seen = None

    async def verify(self, request):
        self.seen = request
        yield VerdictText(text="Weighing.")
        await asyncio.sleep(self.seconds)
        if self.error:
            raise self.error
        if self.verdict:
            yield self.verdict


def ports(rollouts=None, verifier=None, locator=None, stragglers="cut"):
    identity = Identity(version="0", engine="fake", model="fake", dialect="generic", verifier="fake")
    return Ports(
        locator or FakeLocator(),
        DepthRouter(Limits()),
        rollouts or FakeRollouts(),
        verifier or FakeVerifier(),
        identity,
        WatchSettings(stragglers=stragglers),
    )


async def run(photo, the_ports, deadline_s=60.0, **options):
    request = a_request(photo, **{"depth": "deep", "n_parallel": 2, **options})
    async with closing(solve(request, the_ports, deadline_s=deadline_s)) as items:
        return [item async for item in items if not isinstance(item, Attachment)]


def check_shape(events):
    """What every stream owes its reader."""
    kinds = [event.type for event in events]
    assert kinds[0] == "accepted"
    assert kinds[-1] == "done"
    assert kinds.count("done") == 1
    assert kinds.count("answer") + kinds.count("error") == 1
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    times = [event.t_s for event in events]
    assert times == sorted(times)


def test_a_request_is_routed_run_and_verified(blank_photo):
    @virtual_time
    async def check():
        events = await run(blank_photo, ports())
        check_shape(events)
        answer = fold(events).answer
        assert (answer.city, answer.stop_reason) == ("Paris", StopReason.ANSWERED)
        assert (answer.n.asked, answer.n.planned, answer.n.run, answer.n.answered) == (2, 2, 2, 2)
        assert answer.route.locatability.score == 0.9
        timing = answer.timing
        assert timing.routed_s is not None
        assert timing.rollouts_s is not None
        assert timing.verified_s is not None
        assert timing.routed_s <= timing.rollouts_s <= timing.verified_s <= timing.total_s
        assert answer.provenance.photo_sha256 == (blank_photo.sha256,)
        assert not leftover_tasks()

    check()


def test_groups_have_the_size_of_the_port_and_each_rollout_its_own_seed(blank_photo):
    @virtual_time
    async def check():
        rollouts = FakeRollouts(size=2)
        await run(blank_photo, ports(rollouts), n_parallel=5, seed=11)
        assert sorted(len(group.tasks) for group in rollouts.groups) == [1, 2, 2]
        seeds = [task.seed for group in rollouts.groups for task in group.tasks]
        assert len(set(seeds)) == 5
        again = FakeRollouts(size=5)
        await run(blank_photo, ports(again), n_parallel=5, seed=11)
        assert {task.seed for task in again.groups[0].tasks} == set(seeds)

    check()


@pytest.mark.parametrize(
    "verifier",
    [
        FakeVerifier(error=ModelError("down")),
        FakeVerifier(error=ZeroDivisionError()),
        FakeVerifier(seconds=10**6),
        FakeVerifier(verdict=None),
    ],
    ids=["fails", "crashes", "hangs", "says nothing"],
)
def test_a_bad_verifier_never_costs_the_answer(blank_photo, verifier):
    @virtual_time
    async def check():
        events = await run(blank_photo, ports(verifier=verifier), deadline_s=20)
        check_shape(events)
        answer = fold(events).answer
        assert (answer.lat, answer.lon) == (48.8566, 2.3522)
        assert answer.warnings
        assert asyncio.get_running_loop().time() <= 20.5

    check()


def test_an_endless_rollout_is_closed_at_the_deadline_with_its_best_hypothesis(blank_photo):
    @virtual_time
    async def check():
        rollouts = FakeRollouts([("hang", 0)])
        events = await run(blank_photo, ports(rollouts), deadline_s=10, n_parallel=1)
        check_shape(events)
        answer = fold(events).answer
        assert (answer.city, answer.stop_reason) == ("Paris", StopReason.DEADLINE)
        assert asyncio.get_running_loop().time() <= 10
        assert rollouts.running == 0

    check()


def test_a_router_that_fails_is_an_error_then_done(blank_photo):
    @virtual_time
    async def check():
        events = await run(blank_photo, ports(locator=FakeLocator(Overloaded("full", retry_after_s=3))))
        check_shape(events)
        assert fold(events).failure.status == 503

    check()


def test_closing_the_stream_of_a_request_stops_its_rollouts_and_tasks(blank_photo):
    @virtual_time
    async def check():
        rollouts = FakeRollouts([("hang", 0)])
        async with closing(solve(a_request(blank_photo, depth="deep"), ports(rollouts), deadline_s=60)) as items:
            async for item in items:
                if isinstance(item, Text):
                    break
        assert rollouts.running == 0
        assert not leftover_tasks()

    check()


fates = st.lists(st.tuples(st.sampled_from(["answer", "fail", "hang"]), st.floats(0, 30)), min_size=1, max_size=6)


@settings(max_examples=60)
@given(fates, st.integers(1, 6), st.integers(1, 6), st.floats(1, 40), st.sampled_from([0.1, 100.0]))
def test_any_schedule_of_rollout_ends_gives_one_answer_before_the_deadline(
    blank_photo, schedule, n, size, deadline_s, verifier_s
):
    @virtual_time
    async def check():
        rollouts = FakeRollouts(schedule, size)
        events = await run(blank_photo, ports(rollouts, FakeVerifier(verifier_s)), deadline_s=deadline_s, n_parallel=n)
        check_shape(events)
        assert asyncio.get_running_loop().time() <= deadline_s + 0.2
        assert rollouts.running == 0
        assert not leftover_tasks()

    check()


@settings(max_examples=30)
@given(
    fates, st.integers(1, 6), st.integers(1, 6), st.floats(1, 40),
    st.sampled_from(["none", "first:1", "first:2", "quorum:2", "beta", "worth"]), st.sampled_from(["auto", "deep"]),
)  # fmt: skip
def test_stopping_early_and_escalating_still_give_one_answer_in_time(
    blank_photo, schedule, n, size, deadline_s, stop, depth
):
    @virtual_time
    async def check():
        rollouts = FakeRollouts(schedule, size)
        events = await run(blank_photo, ports(rollouts), deadline_s=deadline_s, n_parallel=n, stop=stop, depth=depth)
        check_shape(events)
        folded = fold(events)
        assert all(t.stop_reason is not None for t in folded.trajectories)
        assert len(folded.trajectories) <= n
        assert asyncio.get_running_loop().time() <= deadline_s + 0.2
        assert rollouts.running == 0
        assert not leftover_tasks()

    check()


@pytest.mark.parametrize(
    ("stragglers", "ends", "total_s"),
    [
        ("cut", ["answered", "answered", "cancelled"], (3.0, 4.0)),
        ("hedge", ["answered", "answered", "quorum", "answered"], (4.0, 5.0)),
        ("wait", ["answered", "answered", "deadline"], (50.0, 60.0)),
    ],
)
def test_a_straggler_is_cut_hedged_or_waited_for_as_configured(blank_photo, stragglers, ends, total_s):
    @virtual_time
    async def check():
        rollouts = FakeRollouts([("answer", 1.0), ("answer", 1.0), ("hang", 0), ("answer", 1.0)], size=1)
        events = await run(
            blank_photo, ports(rollouts, stragglers=stragglers), deadline_s=60.0, n_parallel=3, stop="quorum:3"
        )
        check_shape(events)
        answer = fold(events).answer
        assert [status.stop_reason for status in answer.rollouts] == ends
        assert total_s[0] < answer.timing.total_s < total_s[1]
        assert rollouts.running == 0
        assert not leftover_tasks()

    check()


def test_two_rollouts_that_agree_stop_the_third(blank_photo):
    @virtual_time
    async def check():
        rollouts = FakeRollouts([("answer", 1.0), ("answer", 1.0), ("hang", 0)], size=1)
        events = await run(blank_photo, ports(rollouts), n_parallel=3, stop="quorum:2")
        answer = fold(events).answer
        assert answer.stop_reason is StopReason.QUORUM
        assert [status.stop_reason for status in answer.rollouts] == ["answered", "answered", "quorum"]
        assert answer.undone == ("rollout 2 stopped early, after 0 turns: the others already agreed",)
        assert answer.timing.total_s < 2
        assert rollouts.running == 0

    check()


class RolloutsOnGpus(FakeRollouts):
    """An engine in this process: when a group is closed, its generations are aborted, and have cost a second and a half
    that no event has."""

    async def run(self, group):
        try:
            async with closing(super().run(group)) as batches:
                async for batch in batches:
                    yield batch
        finally:
            UNREPORTED_GPU_TIME.add(group.context.id, 1.5)


@pytest.mark.parametrize("fates", [(("answer", 1.0), ("hang", 0)), (("hang", 0),)], ids=["one", "all"])
def test_the_gpu_time_of_rollouts_that_are_cut_off_is_in_the_usage_of_the_answer(blank_photo, fates):
    @virtual_time
    async def check():
        events = await run(blank_photo, ports(RolloutsOnGpus(fates, size=2)), deadline_s=20.0)
        answer = fold(events).answer
        assert (answer.stop_reason, answer.usage.gpu_s) == (StopReason.DEADLINE, 1.5)

    check()


def test_the_gpu_time_of_a_cancelled_request_is_known_when_its_work_has_ended(blank_photo):
    @virtual_time
    async def check():
        request = a_request(blank_photo, depth="deep", n_parallel=2)
        solution = Solution(request, ports(RolloutsOnGpus((("hang", 0),), size=2)), 60.0)
        async with closing(stream(solution.run)) as items:
            async for item in items:
                if isinstance(item, Hypothesised):
                    break
        assert solution.usage.gpu_s == 1.5
        assert not UNREPORTED_GPU_TIME.has_seconds(request.id)

    check()
