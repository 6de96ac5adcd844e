"""Which replica a group of rollouts goes to, by what the replicas reported and what was sent them since."""

from types import SimpleNamespace

import pytest
from support.basics import a_context

from deployments.serve.engine_rooms import keep_reports, known_rooms, report_of
from deployments.serve.replica_for_group import GroupPlacing
from deployments.serve.replica_load import ReplicaLoad
from deployments.serve.request_router import PhotoHashRouter, rendezvous, session_of
from tts.config import OpenAIEngine, ScriptedEngine, VllmEngine
from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, Text
from tts.domain.plan import Limits
from tts.domain.usage import Usage
from tts.errors import ReplicaLost
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.rollout.group_size import Room

# tokens that are expected before any rollout has ended
SHARED = 3500
OWN = 4 * 875


def a_group(sign_photo, n, request="loc_a", **fields):
    tasks = tuple(RolloutTask(rollout_id=i, seed=i) for i in range(n))
    context = a_context().model_copy(update={"id": request})
    return GroupRequest(context, (sign_photo,), tasks, n, Limits(), **fields)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def placing_with():
    def make(clock=None, by_photo=False, **tokens):
        rooms = {name: Room(tokens=count) for name, count in tokens.items()}
        return GroupPlacing(most=None, by_photo=by_photo, rooms=lambda: rooms, clock=clock or Clock())

    return make


def test_a_request_that_fits_nowhere_whole_is_split_and_each_part_goes_where_it_fits(sign_photo, placing_with):
    placing = placing_with(a=SHARED + 3 * OWN, b=SHARED + 2 * OWN)
    assert placing.size(a_group(sign_photo, 4)) == 2
    part = a_group(sign_photo, 2)
    with placing.place(part) as first, placing.place(part) as second:
        assert {first.replica, second.replica} == {"a", "b"}
        assert first.tokens == SHARED + 2 * OWN


def test_room_for_groups_that_were_sent_is_subtracted_before_the_replica_reports(sign_photo, placing_with):
    clock = Clock()
    placing = placing_with(clock, a=SHARED + 4 * OWN, b=0)
    with placing.place(a_group(sign_photo, 4, "loc_a")) as placed:
        assert placed.replica == "a"
        assert placing.size(a_group(sign_photo, 4, "loc_b")) == 2, "both are full now"
        clock.now += 60
        assert placing.size(a_group(sign_photo, 4, "loc_b")) == 4, "by now its own report has the group in it"
    clock.now -= 60
    assert placing.size(a_group(sign_photo, 4, "loc_b")) == 4, "the group has ended"


def test_rollouts_that_need_no_leader_join_the_one_that_went_ahead(sign_photo, placing_with):
    placing = placing_with(a=10**6, b=10**6, c=10**6, d=10**6)
    with placing.place(a_group(sign_photo, 1)) as leader, placing.place(a_group(sign_photo, 3, warm=True)) as others:
        assert others.replica == leader.replica
    with placing.place(a_group(sign_photo, 1)) as leader, placing.place(a_group(sign_photo, 3)) as others:
        assert others.replica != leader.replica, "with a leader of their own they go elsewhere"


def test_a_photo_keeps_its_home_while_that_has_room(sign_photo, placing_with):
    names = rendezvous(sign_photo.sha256, {name: name for name in "abcd"})
    roomy = dict.fromkeys("abcd", 10**6)
    with placing_with(by_photo=True, **roomy).place(a_group(sign_photo, 2)) as placed:
        assert placed.replica == names[0]
    with placing_with(by_photo=True, **roomy | {names[0]: 0, names[1]: 0}).place(a_group(sign_photo, 2)) as placed:
        assert placed.replica in names[2:]


def test_a_lost_replica_gets_nothing_for_a_while_although_it_reported_room(sign_photo, placing_with):
    clock = Clock()
    placing = placing_with(clock, a=10**6, b=SHARED + 2 * OWN)
    group = a_group(sign_photo, 3)
    with pytest.raises(ReplicaLost), placing.place(group) as placed:
        assert placed.replica == "a"
        raise ReplicaLost("a replica was lost")
    with placing.place(group) as placed:
        assert placed.replica == "b"
    clock.now += 60
    with placing.place(group) as placed:
        assert placed.replica == "a"


def test_a_group_goes_to_any_replica_if_no_room_is_known(sign_photo, placing_with):
    placing = placing_with()
    assert placing.size(a_group(sign_photo, 4)) is None
    with placing.place(a_group(sign_photo, 4)) as placed:
        assert placed.replica == ""


class Engine:
    kv_tokens = 32_000
    kv_used_tokens = 3000


def test_a_replica_reports_the_room_left_by_use_and_promised_tokens():
    config = VllmEngine(model="m", max_running=16)
    report = report_of(Engine(), config, rollouts=4, promised_tokens=10_000)
    assert report == {"free_kv_tokens": 22_000, "free_slots": 12}
    assert report_of(Engine(), config, rollouts=0, promised_tokens=0)["free_kv_tokens"] == 29_000
    assert report_of(Engine(), config, rollouts=99, promised_tokens=10**6) == {"free_kv_tokens": 0, "free_slots": 0}


def test_an_endpoint_reports_its_slots_and_an_engine_without_limits_nothing():
    assert report_of(object(), OpenAIEngine(max_running=8), rollouts=3, promised_tokens=0) == {"free_slots": 5}
    assert report_of(object(), ScriptedEngine(), rollouts=3, promised_tokens=0) == {}


def test_reports_of_replicas_become_rooms():
    keep_reports({"a": {"free_kv_tokens": 7, "free_slots": 2}, "b": {}, "c": {"free_slots": 1}})
    assert known_rooms() == {"a": Room(tokens=7, slots=2), "c": Room(slots=1)}
    keep_reports({})
    assert known_rooms() == {}


def test_a_replica_promises_until_its_rollouts_end(sign_photo):
    load = ReplicaLoad()
    with load.running(a_group(sign_photo, 4, kv_tokens=4000)) as running:
        assert (load.rollouts, load.open_rollouts, load.promised_tokens) == (4, 4, 4000)
        running.observe([RolloutFinished(rollout_id=0, stop_reason=StopReason.ANSWERED, usage=Usage())])
        assert (load.rollouts, load.open_rollouts, load.promised_tokens) == (4, 3, 3000)
    assert (load.rollouts, load.promised_tokens) == (0, 0)


def test_a_replica_knows_the_prompts_that_were_read_there(sign_photo):
    load = ReplicaLoad()
    with load.running(a_group(sign_photo, 1)) as running:
        assert not load.has_read("loc_a")
        running.observe([Text(rollout_id=0, turn=0, text="A sign")])
    assert load.has_read("loc_a")
    assert not load.has_read("loc_b")


def a_replica(name):
    return SimpleNamespace(replica_id=SimpleNamespace(unique_id=name))


@pytest.mark.parametrize(
    ("session", "first", "ranks"),
    [
        ("", None, 1),
        (session_of("", "b"), "b", 2),
        (session_of("photo", "b"), "b", 4),
        (session_of("photo", ""), None, 3),
    ],
)
async def test_a_call_goes_to_the_replica_that_was_chosen_then_to_those_of_its_photo(session, first, ranks):
    router = object.__new__(PhotoHashRouter)
    candidates = [a_replica(name) for name in "abcd"]
    pending = SimpleNamespace(metadata=SimpleNamespace(session_id=session))
    found = await router.choose_replicas(candidates, pending)
    assert sorted(replica.replica_id.unique_id for rank in found for replica in rank) == list("abcd")
    assert len(found) == ranks
    if first:
        assert [replica.replica_id.unique_id for replica in found[0]] == [first]


async def test_a_call_goes_to_the_other_replicas_if_the_chosen_one_is_gone():
    router = object.__new__(PhotoHashRouter)
    pending = SimpleNamespace(metadata=SimpleNamespace(session_id=session_of("", "gone")))
    found = await router.choose_replicas([a_replica("a"), a_replica("b")], pending)
    assert sorted(replica.replica_id.unique_id for rank in found for replica in rank) == ["a", "b"]
