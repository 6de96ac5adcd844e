"""Observer and planner: two models in one rollout."""

import asyncio

import pytest
from support.basics import a_request, virtual_time
from support.dialect_rollouts import Recording, play_with

from tts.aio import closing
from tts.dialects import DIALECTS
from tts.domain.abilities import Abilities
from tts.domain.answer import StopReason
from tts.domain.description import Description
from tts.domain.identity import Identity
from tts.domain.plan import Limits, Locatability
from tts.domain.stop_settings import WatchSettings
from tts.domain.usage import Usage
from tts.errors import FatalError, ReplicaLost
from tts.inference.with_observer import ModelWithObserver
from tts.pipeline import solve
from tts.ports.engine_offers import EngineHealth, EngineLoad
from tts.ports.locator import Routing
from tts.ports.request_ports import Ports
from tts.rollout.agent import Agent
from tts.rollout.group import run_group
from tts.rollout.group_failover import run_with_failover
from tts.routing.depth_router import DepthRouter
from tts.toolkit.toolbox import LocalToolbox
from tts.verify.verifiers.fallback import fallback_verdict

CALL = '{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [0, 0, 406, 238]}}'
ZOOM = f"<think>What does the sign say?</think><tool_call>{CALL}</tool_call>"
ANSWER = "<answer>\nCountry: Japan\nCity: Otaru\nLatitude: 43.19\nLongitude: 140.99\n</answer>"


@virtual_time
async def test_the_planner_reads_what_the_observer_sees_and_may_have_it_look_again(sign_photo):
    observer, planner = Recording("a canal"), Recording(ZOOM, "hm", ANSWER)
    played = await play_with(ModelWithObserver(planner, observer), DIALECTS["spotagent"], sign_photo)
    assert played.end.stop_reason is StopReason.ANSWERED
    assert len(observer.requests) == 2  # the photo and the crop, once each, over three turns
    scene, detail = (request.messages[1] for request in observer.requests)
    assert "812x476" in scene.text
    assert detail.images[0].box.pixels(800, 480) == (0, 0, 400, 240)
    assert "What does the sign say?" in detail.text
    last = planner.requests[-1]
    assert not any(message.images for message in last.messages)
    assert (last.photos, last.files) == ((), {})
    counts = [message.text.count("The observer says: a canal") for message in last.messages if message.role == "user"]
    assert counts == [1, 1, 0]
    assert planner.requests[1].messages == last.messages[: len(planner.requests[1].messages)]
    assert played.end.usage.model_calls == 3 + 2


@virtual_time
async def test_an_observer_that_describes_nothing_fails_the_rollout_with_the_reason(sign_photo):
    played = await play_with(ModelWithObserver(Recording(ANSWER), Recording("")), DIALECTS["spotagent"], sign_photo)
    assert (played.end.stop_reason, played.end.error) == (
        StopReason.FAILED,
        "model: the observer described nothing: it sent an empty text",
    )


@virtual_time
async def test_a_photo_is_described_once_for_all_rollouts_of_a_request(sign_photo):
    observer = Recording("a canal")
    model = ModelWithObserver(Recording(ANSWER), observer)
    both = await asyncio.gather(
        *(play_with(model, DIALECTS["spotagent"], sign_photo, n=2, rollout_id=i) for i in range(2))
    )
    assert [played.end.stop_reason for played in both] == [StopReason.ANSWERED] * 2
    assert len(observer.requests) == 1
    assert sum(played.end.usage.model_calls for played in both) == 2 + 1


class Replicas:
    """Rollouts of which every group runs in a process of its own: nothing is shared but what the request carries.

    The first `lost` of them die when the observer has spoken.
    """

    def __init__(self, observer, lost=0):
        self.observer = observer
        self.lost = lost
        self.groups = 0

    def group_size(self, group):
        return 1

    def run(self, group):
        return run_with_failover(group, self.once)

    async def once(self, group):
        self.groups += 1
        dies = self.groups <= self.lost
        agent = Agent(ModelWithObserver(Recording(ANSWER), self.observer), DIALECTS["spotagent"], LocalToolbox([]))
        async with closing(run_group(agent, group, coalesce_s=0.0)) as batches:
            async for batch in batches:
                spoken = [item for item in batch if isinstance(item, Description)]
                yield spoken if dies else batch
                if dies and spoken:
                    raise ReplicaLost("gone")


class Faulty(Recording):
    """An observer whose first answer is empty, or never comes."""

    def __init__(self, fault):
        super().__init__("a canal")
        self.fault = fault

    async def generate(self, request):
        silent = not self.requests
        if silent:
            self.requests.append(request)
            if self.fault == "hangs":
                await asyncio.Event().wait()
            return
        async with closing(super().generate(request)) as deltas:
            async for delta in deltas:
                yield delta


class Others:
    """Locator and verifier; the verifier keeps the description of the photo."""

    described = None

    async def rate(self, photos, context):
        return Routing(Locatability(score=0.1, method="cues", parts={"text": 0.0, "content": 1.0}))

    async def verify(self, request):
        self.described = request.context.described
        yield fallback_verdict(request, "not checked")


async def solve_request(photo, replicas, n, leader=True, **options):
    """The whole pipeline: the answer, and the description of the photo that the verifier got."""
    others = Others()
    identity = Identity(version="0", engine="fake", model="fake", dialect="spotagent", verifier="fake")
    watch = WatchSettings(leader=leader, prefix_wait_s=60.0, observer=True)
    router = DepthRouter(Limits(), Abilities(sees_pictures=True))
    ports = Ports(others, router, replicas, others, identity, watch)
    async with closing(solve(a_request(photo, n_parallel=n, **options), ports, deadline_s=300.0)) as items:
        events = [item async for item in items]
    return next(event.answer for event in events if event.type == "answer"), others.described


@virtual_time
async def test_groups_in_other_replicas_get_the_description_of_the_observer(sign_photo):
    observer = Recording(*["a canal"] * 4)
    replicas = Replicas(observer)
    answer, described = await solve_request(sign_photo, replicas, n=4)
    assert (answer.n.run, replicas.groups) == (4, 4)
    assert len(observer.requests) == 1
    assert described == {sign_photo.sha256: "a canal"}


@virtual_time
@pytest.mark.parametrize("start", [{"leader": False}, {"depth": "deep"}], ids=["no leader", "a named depth"])
async def test_groups_that_would_start_at_once_wait_for_the_first_description(sign_photo, start):
    observer = Recording(*["a canal"] * 4)
    replicas = Replicas(observer)
    answer, described = await solve_request(sign_photo, replicas, n=4, **start)
    assert (answer.n.run, answer.n.answered, replicas.groups) == (4, 4, 4)
    assert len(observer.requests) == 1
    assert described == {sign_photo.sha256: "a canal"}


@virtual_time
async def test_groups_start_all_the_same_when_the_first_one_ends_without_a_description(sign_photo):
    answer, _ = await solve_request(sign_photo, Replicas(Faulty("is silent")), n=4, leader=False)
    assert (answer.n.run, answer.n.answered) == (4, 3)


@virtual_time
async def test_groups_wait_for_an_observer_that_hangs_no_longer_than_the_bound(sign_photo):
    started = asyncio.get_running_loop().time()
    answer, _ = await solve_request(sign_photo, Replicas(Faulty("hangs")), n=4, leader=False)
    assert answer.n.answered == 3
    assert 60.0 < asyncio.get_running_loop().time() - started <= 301.0


@virtual_time
async def test_a_second_attempt_after_a_lost_replica_does_not_look_again(sign_photo):
    observer = Recording("a canal", "a canal")
    replicas = Replicas(observer, lost=1)
    answer, _ = await solve_request(sign_photo, replicas, n=1)
    assert (answer.n.answered, replicas.groups) == (1, 2)
    assert len(observer.requests) == 1


@virtual_time
async def test_the_kept_description_of_a_photo_ends_with_the_time_of_the_request(sign_photo):
    observer = Recording("a canal", "a canal")
    model = ModelWithObserver(Recording(ANSWER), observer)
    await play_with(model, DIALECTS["spotagent"], sign_photo, seconds=60.0)
    await asyncio.sleep(61.0)
    await play_with(model, DIALECTS["spotagent"], sign_photo, seconds=60.0)
    assert len(observer.requests) == 2


class OnGpu(Recording):
    """An engine in this process: what it runs, how full its cache is, whether it lives."""

    def __init__(self, running, kv_use, lives=True):
        super().__init__("words")
        self.running = running
        self.kv_use = kv_use
        self.lives = lives

    async def check_health(self):
        if not self.lives:
            raise FatalError("the engine core died")


async def test_planner_and_observer_report_all_generations_and_the_fuller_cache():
    pair = ModelWithObserver(OnGpu(2, 0.3), OnGpu(1, 0.8))
    assert isinstance(pair, EngineHealth)
    assert isinstance(pair, EngineLoad)
    assert (pair.running, pair.kv_use) == (3, 0.8)
    await pair.check_health()


@pytest.mark.parametrize(("planner", "observer"), [(False, True), (True, False)])
async def test_planner_and_observer_are_unhealthy_when_one_of_them_is_dead(planner, observer):
    with pytest.raises(FatalError):
        await ModelWithObserver(OnGpu(0, 0.0, planner), OnGpu(0, 0.0, observer)).check_health()


class ForkingPlanner(Recording):
    """Gives all draws in one request, and keeps what it was asked."""

    forks_prompts = True

    def __init__(self, *turns):
        super().__init__(*turns)
        self.drawn = []

    async def draw(self, request, count):
        self.drawn.append(request)
        return (ANSWER,) * count, Usage(prompt_tokens=10 * count)


@virtual_time
@pytest.mark.parametrize("kind", [Recording, ForkingPlanner])
async def test_answer_draws_do_not_have_the_pictures_described_again(sign_photo, kind):
    observer, planner = Recording("a canal"), kind(ZOOM, "hm", *[ANSWER] * 4)
    limits = Limits(answer_draws=4, max_turns=8)
    model = ModelWithObserver(planner, observer)
    played = await play_with(model, DIALECTS["spotagent"], sign_photo, limits=limits)
    assert len(played.end.answer_draws) == 3
    assert len(observer.requests) == 2  # the photo and the crop
    if kind is ForkingPlanner:
        (drawn,) = planner.drawn
        assert (drawn.messages, drawn.photos, drawn.files) == (planner.requests[-1].messages, (), {})


def test_the_pair_forks_prompts_if_its_planner_does():
    assert ModelWithObserver(ForkingPlanner(), Recording()).forks_prompts
    assert not ModelWithObserver(Recording(), ForkingPlanner()).forks_prompts
