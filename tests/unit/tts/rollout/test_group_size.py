"""How many rollouts of a request share a replica: as many as fit, in as few groups as there can be."""

from hypothesis import given
from hypothesis import strategies as st

from tts.rollout.group import split
from tts.rollout.group_size import RolloutSize, Room, group_size

SIZE = RolloutSize(shared_tokens=1000, own_tokens=500)


def rooms(*tokens):
    return [Room(tokens=count) for count in tokens]


def test_all_rollouts_stay_together_if_one_replica_has_room():
    assert group_size(8, rooms(5000, 900), SIZE) == 8


def test_rollouts_without_room_on_one_replica_are_split_as_little_as_possible():
    assert group_size(8, rooms(4999, 3000), SIZE) == 4
    assert group_size(8, rooms(4999, 2999, 2999), SIZE) == 3


def test_the_common_prompt_counts_once_for_each_group():
    assert group_size(8, rooms(3000, 3000), SIZE) == 4
    assert group_size(8, rooms(3000, 2000), SIZE) == 4, "no division fits: the load is the same everywhere"


def test_replicas_without_room_get_equal_parts_of_the_rollouts():
    assert group_size(9, rooms(0, 0, 0), SIZE) == 3


def test_a_single_replica_gets_all_rollouts_however_full_it_is():
    assert group_size(8, rooms(0), SIZE) == 8


def test_an_engine_without_a_kv_cache_is_asked_for_its_slots():
    assert group_size(8, [Room(slots=64), Room(slots=64)], SIZE) == 8
    assert group_size(8, [Room(slots=5), Room(slots=4)], SIZE) == 4


def test_the_scarcer_of_tokens_and_slots_limits_the_rollouts_on_a_replica():
    assert Room(tokens=10_000, slots=3).n_fitting(SIZE, 8) == 3
    assert Room(tokens=2000, slots=30).n_fitting(SIZE, 8) == 2


def test_rollouts_stay_together_up_to_the_configured_size_if_no_room_is_known():
    assert group_size(8, [], SIZE) == 8
    assert group_size(8, [], SIZE, most=3) == 3


def test_the_configured_size_is_never_exceeded():
    assert group_size(8, rooms(100_000), SIZE, most=2) == 2


@given(
    n=st.integers(1, 32),
    free=st.lists(st.integers(0, 40_000), min_size=1, max_size=6),
    shared=st.integers(0, 5000),
    own=st.integers(1, 5000),
)
def test_groups_fit_where_any_equal_division_fits_and_never_outnumber_the_replicas(n, free, shared, own):
    size = RolloutSize(shared, own)
    parts = [len(part) for part in split(n, group_size(n, rooms(*free), size))]
    assert sum(parts) == n
    assert len(parts) <= len(free)
    if n <= Room(tokens=max(free)).n_fitting(size, n):
        assert parts == [n]
    fits = sorted((room.n_fitting(size, n) for room in rooms(*free)), reverse=True)
    possible = [k for k in range(1, len(free) + 1) if -(-n // k) <= fits[k - 1]]
    if possible:
        assert all(part <= fit for part, fit in zip(parts, fits, strict=False))
