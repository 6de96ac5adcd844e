"""When the Rollout deployment grows and shrinks."""

from dataclasses import dataclass, field

import pytest

from deployments.serve.request_router import rendezvous
from deployments.serve.scaling import GENERATIONS, KV_USE, RolloutScaling, load_of
from tts.inference.with_observer import ModelWithObserver


@dataclass
class Context:
    current_num_replicas: int = 1
    aggregated_metrics: dict = field(default_factory=dict)
    total_queued_requests: float = 0.0
    total_num_requests: float = 0.0


def wanted_replicas(generations=(), kv_use=(), target=4.0, **fields):
    metrics = {GENERATIONS: dict(enumerate(generations)), KV_USE: dict(enumerate(kv_use))} if generations else {}
    replicas, _ = RolloutScaling(target)(Context(aggregated_metrics=metrics, **fields))
    return replicas


@pytest.mark.parametrize(
    ("generations", "replicas"), [((0,), 0), ((1,), 1), ((4,), 1), ((5,), 2), ((4, 4, 4), 3), ((12,), 3), ((0, 3), 1)]
)
def test_each_replica_runs_as_many_generations_as_the_target(generations, replicas):
    assert wanted_replicas(generations) == replicas


class Engine:
    """An engine on a GPU: what it runs, and how full its cache is."""

    def __init__(self, running=3, kv_use=0.4):
        self.running = running
        self.kv_use = kv_use

    async def check_health(self):
        pass


def load(*engines):
    """What a replica with these engines reports while 8 rollouts run."""
    return load_of(engines, rollouts=8)


def test_rollouts_that_wait_for_tools_are_no_reason_to_grow():
    assert load(Engine()) == {GENERATIONS: 3.0, KV_USE: 0.4}


def test_the_generations_of_all_engines_of_a_replica_count_and_the_fullest_cache():
    assert load(Engine(3, 0.4), Engine(2, 0.9)) == {GENERATIONS: 5.0, KV_USE: 0.9}


def test_rollouts_are_the_load_if_an_engine_counts_no_generations():
    assert load(object()) == {GENERATIONS: 8.0}
    assert load(Engine(), object()) == {GENERATIONS: 8.0, KV_USE: 0.4}


def test_the_load_of_a_planner_without_counts_is_its_rollouts_not_its_observer():
    """As with `engine.name: clues`, whose replicas would be scaled by looks at photos alone."""
    assert load(ModelWithObserver(object(), Engine(1, 0.4))) == {GENERATIONS: 8.0, KV_USE: 0.4}
    assert load(ModelWithObserver(object(), object())) == {GENERATIONS: 8.0}
    assert load(ModelWithObserver(Engine(2, 0.3), Engine(1, 0.4))) == {GENERATIONS: 3.0, KV_USE: 0.4}


def test_calls_in_a_queue_count_as_the_group_they_carry():
    assert wanted_replicas((4,), total_queued_requests=2) == 3


def test_full_kv_caches_on_all_replicas_call_for_one_more_replica():
    assert wanted_replicas((2, 2), kv_use=(0.95, 0.9), current_num_replicas=2) == 3
    assert wanted_replicas((2, 2), kv_use=(0.95, 0.1), current_num_replicas=2) == 1


def test_silence_of_new_replicas_is_no_reason_to_stop_them():
    assert wanted_replicas((), current_num_replicas=3, total_num_requests=2) == 3
    assert wanted_replicas((), current_num_replicas=3) == 0


def test_a_photo_keeps_its_home_when_others_come_and_go():
    replicas = {f"r{i}": i for i in range(8)}
    homes = {f"photo{i}": rendezvous(f"photo{i}", replicas)[0] for i in range(400)}
    fewer = {name: value for name, value in replicas.items() if value != 3}
    moved = [key for key, home in homes.items() if rendezvous(key, fewer)[0] != home]
    assert {homes[key] for key in moved} == {3}
    assert all(30 <= list(homes.values()).count(value) <= 75 for value in range(8))
