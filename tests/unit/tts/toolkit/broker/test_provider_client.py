"""Politeness to providers: fair slots, rates, keys, retries, the breaker; on virtual time."""

import asyncio

import pytest
from support.basics import leftover_tasks, virtual_time

from tts.domain.request import RequestContext
from tts.errors import FetchError, FetchErrorKind, ToolError, ToolErrorKind
from tts.net.http_client import HttpReply
from tts.net.secret import Scrubber, Secret
from tts.toolkit.broker.cache_store import MemoryStore
from tts.toolkit.broker.circuit_breaker import BreakerConfig
from tts.toolkit.broker.fair_slots import FairLimiter
from tts.toolkit.broker.provider_client import KeyPlace, ProviderClient, ProviderRequest
from tts.toolkit.broker.provider_limits import ProviderLimits

OK: tuple[int, dict[str, str]] = (200, {})


class Server:
    """Stands in for the safe client: answers from a script, the last answer for ever."""

    def __init__(self, *script, takes_s=0.0):
        self.scrubber = Scrubber()
        self.script = list(script) or [OK]
        self.takes_s = takes_s
        self.requests = []

    async def fetch(self, url, *, credential=None, **_):
        loop = asyncio.get_running_loop()
        self.requests.append((loop.time(), credential.secret.reveal() if credential else None, url))
        await asyncio.sleep(self.takes_s)
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if callable(answer):
            answer = answer(credential)
        if isinstance(answer, FetchError):
            raise answer
        return HttpReply(url, answer[0], answer[1], b"{}")


def client_of(server, *, keys=(), **limits):
    clock = asyncio.get_running_loop().time
    allowed = ProviderLimits(**{"per_s": 1000.0, "burst": 1000.0, **limits})
    place = KeyPlace("query", "key") if keys else None
    secrets = [Secret(key) for key in keys]
    return ProviderClient(
        "maps", server, MemoryStore(now=clock), allowed, keys=secrets, key_place=place, now=clock, draw=lambda: 0.5
    )


def ask(client, url="https://x.example/", *, query="loc_1", remaining_s=60.0, **fields):
    return client.ask(ProviderRequest(url, **fields), RequestContext(id=query, remaining_s=remaining_s))


BROKEN = FetchError("the connection broke", kind=FetchErrorKind.BROKEN)


@virtual_time
async def test_a_passing_fault_is_tried_again_with_growing_pauses():
    server = Server(BROKEN, (503, {}), OK)
    assert (await ask(client_of(server, backoff_s=1.0))).status == 200
    assert [at for at, *_ in server.requests] == [0.0, 1.0, 3.0]


@virtual_time
async def test_a_request_that_is_not_idempotent_is_sent_once():
    server = Server(BROKEN, OK)
    with pytest.raises(ToolError):
        await ask(client_of(server), method="POST", idempotent=False)
    assert len(server.requests) == 1


@virtual_time
async def test_all_callers_of_a_provider_wait_as_long_as_its_429_says():
    server = Server((429, {"retry-after": "7"}), OK)
    client = client_of(server, max_running=1)
    await asyncio.gather(ask(client), ask(client, query="loc_2"))
    assert [at for at, *_ in server.requests] == [0.0, 7.0, 7.0]


@virtual_time
async def test_a_429_that_lasts_too_long_is_reported_at_once():
    client = client_of(Server((429, {"retry-after": "600"})))
    for _ in range(2):
        with pytest.raises(ToolError) as caught:
            await ask(client, remaining_s=10.0)
        assert caught.value.kind is ToolErrorKind.RATE_LIMITED
        assert caught.value.fields["retry_after_s"] == pytest.approx(600, abs=1)
    assert asyncio.get_running_loop().time() < 1


@virtual_time
async def test_requests_to_a_provider_keep_to_its_rate_and_burst():
    server = Server()
    client = client_of(server, per_s=1.0, burst=2.0)
    await asyncio.gather(*(ask(client) for _ in range(4)))
    assert [round(at, 3) for at, *_ in server.requests] == [0.0, 0.0, 1.0, 2.0]


@virtual_time
async def test_keys_take_turns_and_rotate_when_one_is_used_up_or_refused():
    def answer(credential):
        return {"aaaa": (402, {}), "bbbb": (401, {}), "cccc": OK}[credential.secret.reveal()]

    server = Server(answer)
    client = client_of(server, keys=("aaaa", "bbbb", "cccc"), quota_rest_s=100.0)
    assert (await ask(client)).status == 200
    assert [key for _, key, _ in server.requests] == ["aaaa", "bbbb", "cccc"]
    await ask(client)
    assert [key for _, key, _ in server.requests][3:] == ["cccc"]
    assert client.figures().usable_keys == 1
    await asyncio.sleep(101)
    assert client.figures().usable_keys == 2


@virtual_time
async def test_no_key_left_is_a_quota_error():
    client = client_of(Server((402, {})), keys=("aaaa",), quota_rest_s=50.0)
    for _ in range(2):
        with pytest.raises(ToolError) as caught:
            await ask(client)
        assert caught.value.kind is ToolErrorKind.QUOTA
    assert "aaaa" not in caught.value.detail


@virtual_time
async def test_the_breaker_opens_lets_one_trial_through_and_closes():
    server = Server(BROKEN, BROKEN, BROKEN, OK)
    client = client_of(server, retries=0, breaker=BreakerConfig(failures=3, cool_s=10.0))
    for _ in range(3):
        with pytest.raises(ToolError):
            await ask(client)
    assert client.figures().breaker == "open"
    with pytest.raises(ToolError, match="left alone") as caught:
        await ask(client)
    assert caught.value.fields["retry_after_s"] == 10.0
    assert len(server.requests) == 3
    await asyncio.sleep(10.1)
    assert client.figures().breaker == "trial"
    assert (await ask(client)).status == 200
    assert client.figures().breaker == "closed"


@virtual_time
async def test_a_failed_trial_doubles_the_pause_and_only_one_is_made():
    server = Server(BROKEN, takes_s=0.5)
    client = client_of(server, retries=0, breaker=BreakerConfig(failures=1, cool_s=10.0))
    with pytest.raises(ToolError):
        await ask(client)
    await asyncio.sleep(10.1)
    await asyncio.gather(*(ask(client) for _ in range(5)), return_exceptions=True)
    assert len(server.requests) == 2
    await asyncio.sleep(15)
    assert client.figures().breaker == "open"
    await asyncio.sleep(6)
    assert client.figures().breaker == "trial"
    assert client.figures().opened == 2


@virtual_time
async def test_replies_of_400_do_not_open_the_breaker():
    client = client_of(Server((400, {})), breaker=BreakerConfig(failures=1))
    for _ in range(3):
        with pytest.raises(ToolError) as caught:
            await ask(client)
    assert caught.value.kind is ToolErrorKind.BLOCKED
    assert client.figures().breaker == "closed"


@virtual_time
async def test_a_cancelled_trial_of_the_breaker_allows_the_next_one():
    server = Server(BROKEN, OK, takes_s=1.0)
    client = client_of(server, retries=0, breaker=BreakerConfig(failures=1, cool_s=1.0))
    with pytest.raises(ToolError):
        await ask(client)
    await asyncio.sleep(2)
    trial = asyncio.ensure_future(ask(client))
    await asyncio.sleep(0.5)
    trial.cancel()
    await asyncio.wait([trial])
    assert (await ask(client)).status == 200
    assert leftover_tasks() == []


@virtual_time
async def test_queries_take_turns_however_many_calls_each_has_waiting():
    server = Server(takes_s=1.0)
    client = client_of(server, max_running=1)
    greedy = [ask(client, "https://x.example/greedy", query="a") for _ in range(6)]
    modest = [ask(client, "https://x.example/modest", query="b") for _ in range(2)]
    await asyncio.gather(*greedy, *modest)
    order = [url[-6:] for *_, url in server.requests]
    assert order == ["greedy", "greedy", "modest", "greedy", "modest", "greedy", "greedy", "greedy"]


@virtual_time
async def test_a_full_queue_refuses_calls_at_once():
    client = client_of(Server(takes_s=1.0), max_running=1, max_queued=1)
    results = await asyncio.gather(*(ask(client) for _ in range(4)), return_exceptions=True)
    assert [isinstance(result, ToolError) for result in results] == [False, False, True, True]


@virtual_time
async def test_callers_that_stop_waiting_free_their_place_in_the_queue():
    limiter = FairLimiter(1, 10)
    holding = asyncio.Event()

    async def work(query):
        async with limiter.slot(query):
            await holding.wait()

    first = asyncio.ensure_future(work("a"))
    waiting = [asyncio.ensure_future(work(query)) for query in "bcb"]
    await asyncio.sleep(0)
    for task in waiting[:2]:
        task.cancel()
    await asyncio.wait(waiting[:2])
    assert limiter.queued == 1
    holding.set()
    await asyncio.gather(first, waiting[2])
    assert (limiter.running, limiter.queued) == (0, 0)
