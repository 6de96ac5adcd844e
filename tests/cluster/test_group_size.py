"""Rollouts of a request share a replica while its engine has room for them, on a real Ray service of two replicas.

The scripted engine has a KV cache of 20,000 tokens. Before any rollout has ended, one is expected to take 3,500 tokens
beside a prompt of 3,500: four fit. The journal of the engine says which process ran which rollout, and when.
"""

import asyncio
import json
import re
from collections import defaultdict

import httpx
import pytest
import pytest_asyncio
from support.plain_photo import plain_photo
from support.ports import free_port

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig, GatewayConfig
from deployments.launch.cluster import serve_configuration
from geotts_client import Client, LocateOptions
from tts.config import RoutingConfig, ScriptedEngine

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(600)]
KV_TOKENS = 20_000
WORDS = 10
TURN_S = 1.0
FREE = re.compile(r"^geotts_engine_free_kv_tokens\{replica=.*\} (\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    return tmp_path_factory.mktemp("journal") / "turns.jsonl"


@pytest.fixture(scope="module")
def url(data_store, journal):
    engine = ScriptedEngine(
        turns=2, tokens_per_turn=WORDS, turn_s=TURN_S, kv_tokens=KV_TOKENS, prefix_cache=True, journal=str(journal)
    )
    args = AppArgs(
        engine=engine,
        routing=RoutingConfig(method="fixed", stop="none", stragglers="wait"),
        gateway=GatewayConfig(port=free_port()),
        deployments=DeploymentsConfig(rollout=DeploymentConfig(replicas=2)),
    )
    with serve_configuration(args) as service:
        yield service.url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wait_for_idle_replicas(url):
    """The gateway knows the room of both replicas, and both are idle."""

    async def wait():
        async with httpx.AsyncClient() as http:
            for _ in range(100):
                free = [float(count) for count in FREE.findall((await http.get(f"{url}/metrics")).text)]
                if len(free) == 2 and min(free) > 0.95 * KV_TOKENS:
                    return free
                await asyncio.sleep(0.2)
        raise AssertionError(f"the replicas did not report their room: {free}")

    return wait


async def run_request(url, journal, n, side):
    """The run of a request, and when its rollouts began, in order, by the process of their engine."""
    async with Client(url) as client:
        run = await client.locate(plain_photo(side, 240), LocateOptions(n_parallel=n, depth="deep"))
    begun = defaultdict(list)
    for line in journal.read_text().splitlines():
        turn = json.loads(line)
        if turn["session"].startswith(f"{run.accepted.request_id}/") and turn["turn"] == 0:
            begun[turn["process"]].append(turn["at"])
    return run, begun


async def test_a_request_without_room_on_one_replica_is_split_and_each_part_has_a_leader(
    url, journal, wait_for_idle_replicas
):
    await wait_for_idle_replicas()
    run, begun = await run_request(url, journal, n=8, side=320)
    assert run.answer.n.answered == 8
    assert sorted(len(starts) for starts in begun.values()) == [4, 4]
    for leader, *others in begun.values():
        assert min(others) - leader > 0.8 * TURN_S / WORDS, "the others wait for its first word"
        assert max(others) - min(others) < 0.8 * TURN_S / WORDS


async def test_eight_rollouts_known_to_be_small_stay_together_on_one_replica(url, journal, wait_for_idle_replicas):
    await wait_for_idle_replicas()
    run, begun = await run_request(url, journal, n=8, side=336)
    assert run.answer.n.answered == 8
    assert [len(starts) for starts in begun.values()] == [8]


async def test_requests_side_by_side_go_where_there_is_room(url, journal, wait_for_idle_replicas):
    await wait_for_idle_replicas()
    pairs = await asyncio.gather(*(run_request(url, journal, n=8, side=352 + 16 * i) for i in range(6)))
    assert all(run.answer.n.answered == 8 for run, _ in pairs)
    by_process: defaultdict[int, int] = defaultdict(int)
    for _, begun in pairs:
        for process, starts in begun.items():
            by_process[process] += len(starts)
    assert len(by_process) == 2
    assert min(by_process.values()) >= 12, by_process


async def test_an_answer_counts_the_tokens_that_a_full_cache_cost(url, journal, wait_for_idle_replicas):
    for attempt in range(4):  # a loaded machine may start so few at once that the cache is never full
        await wait_for_idle_replicas()
        run, _ = await run_request(url, journal, n=32, side=640 + 16 * attempt)
        assert run.answer.n.answered == 32
        if run.answer.usage.preempted_tokens:
            break
    assert run.answer.usage.preempted_tokens > 0
    async with httpx.AsyncClient() as http:
        metrics = (await http.get(f"{url}/metrics")).text
    assert f'geotts_tokens_total{{kind="preempted"}} {float(run.answer.usage.preempted_tokens)}' in metrics
