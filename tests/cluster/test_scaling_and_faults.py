"""The Rollout deployment under load that comes and goes, and under fire."""

import pytest
from support.ports import free_port

from deployments.launch.cluster import serve_configuration
from geotts_benchmarks.replicas import autoscale, faults
from geotts_benchmarks.replicas.autoscale import flaps, scaling_args, step
from geotts_benchmarks.replicas.faults import fault_args

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


async def test_load_scales_the_rollouts_to_three_replicas_and_back_and_cuts_no_stream(data_store):
    with serve_configuration(scaling_args(free_port())) as service:
        seen = await step(service.url, hold_s=3.0)
    assert seen["most"] == 3
    assert seen["up_s"] is not None
    assert seen["down_s"] is not None
    assert (seen["flaps"], seen["failed"], seen["lost_rollouts"]) == (0, 0, 0)
    assert seen["requests"] >= 6


async def test_no_request_and_no_rollout_is_lost_with_killed_replicas(data_store):
    with serve_configuration(fault_args(free_port())) as service:
        seen = await faults.run(service.url, kills=2)
    assert (seen["failed"], seen["lost_rollouts"]) == (0, 0)
    assert seen["resumed"] > 0
    assert seen["next_request_works"]


@pytest.mark.parametrize(("counts", "expected"), [([1, 2, 3, 3, 1], 0), ([1, 3, 2, 3, 1], 2), ([1, 1], 0), ([1], 0)])
def test_bench_autoscale_counts_each_reversal_of_the_number_of_replicas(counts, expected):
    assert flaps(counts) == expected
    assert autoscale.flaps(counts[::-1]) == expected
