"""The broker: what is asked once, what is kept, what happens when providers or the store fail."""

import asyncio
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field
from support.basics import leftover_tasks, virtual_time

from tts.domain.geo import Countries
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.tooling import ToolCall
from tts.errors import ToolCrashed, ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_key import call_key, normal_text
from tts.toolkit.broker.cache_store import MemoryStore, StoreError
from tts.toolkit.spec import Arguments, FunctionTool, Observation, Splitting, ToolSpec


class Ask(Arguments):
    query: str | tuple[str, ...]
    place_id: str = ""
    lat: Annotated[float, Field(ge=-90, le=90)] = 0.0


class Provider:
    """Counts what it is asked, takes `takes_s`, fails as set."""

    def __init__(self, takes_s=0.0):
        self.asked = []
        self.takes_s = takes_s
        self.error = None
        self.running = 0

    async def __call__(self, arguments, context):
        self.asked.append(arguments.query)
        self.running += 1
        try:
            await asyncio.sleep(self.takes_s)
        finally:
            self.running -= 1
        if self.error is not None:
            raise self.error
        return Observation(text=f"about {arguments.query}")


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


def broker_of(provider, *, store=None, clock=None, splitting=None, **spec):
    clock = clock or Clock()
    made = ToolSpec("look_up", "Looks up.", **{"exact": frozenset({"place_id"}), **spec})
    tool = FunctionTool(made, Ask, provider, splitting)
    return Broker([tool], store or MemoryStore(now=clock), now=clock)


def context(request_id="loc_1", remaining_s=30.0, **fields):
    return ToolContext(RequestContext(id=request_id, remaining_s=remaining_s), **fields)


async def ask(broker, query="Coimbra", *, request_id="loc_1", remaining_s=30.0, **arguments):
    call = ToolCall(id="c7", name="look_up", arguments={"query": query, **arguments})
    return (await broker.call(call, context(request_id, remaining_s))).result


@virtual_time
async def test_rollouts_that_ask_the_same_cost_one_call():
    provider = Provider(takes_s=1.0)
    broker = broker_of(provider)
    results = await asyncio.gather(*(ask(broker, request_id=f"loc_{i}") for i in range(32)))
    assert provider.asked == ["Coimbra"]
    assert {result.text for result in results} == {"about Coimbra"}
    assert sorted(result.cached for result in results) == [False] + [True] * 31
    figures = broker.snapshot().tools["look_up"]
    assert (figures.calls, figures.joined, figures.hits) == (32, 31, 0)
    assert sum(figures.latency) == 32


@virtual_time
async def test_a_result_is_cached_for_its_time_to_live():
    provider, clock = Provider(), Clock()
    broker = broker_of(provider, clock=clock, ttl_s=100.0)
    assert not (await ask(broker)).cached
    clock.now += 99
    assert (await ask(broker)).cached
    clock.now += 2
    assert not (await ask(broker)).cached
    assert len(provider.asked) == 2


@virtual_time
async def test_not_found_is_cached_for_a_shorter_time_and_other_failures_are_not():
    provider, clock = Provider(), Clock()
    broker = broker_of(provider, clock=clock, ttl_s=100.0, negative_ttl_s=10.0)
    provider.error = ToolError("no such place", kind=ToolErrorKind.NOT_FOUND)
    for _ in range(3):
        assert (await ask(broker)).failure.kind is ToolErrorKind.NOT_FOUND
    assert len(provider.asked) == 1
    clock.now += 11
    provider.error = ToolError("down", kind=ToolErrorKind.UNAVAILABLE)
    for _ in range(2):
        assert (await ask(broker)).failure.kind is ToolErrorKind.UNAVAILABLE
    assert len(provider.asked) == 3


@virtual_time
async def test_an_expired_result_is_served_while_the_provider_fails():
    provider, clock = Provider(), Clock()
    broker = broker_of(provider, clock=clock, ttl_s=100.0, stale_s=1000.0)
    fresh = await ask(broker)
    clock.now += 500
    provider.error = ToolError("down", kind=ToolErrorKind.UNAVAILABLE)
    stale = await ask(broker)
    assert (stale.ok, stale.cached, stale.text, stale.retrieved_at) == (True, True, fresh.text, fresh.retrieved_at)
    assert broker.snapshot().tools["look_up"].stale == 1
    clock.now += 1000
    assert not (await ask(broker)).ok


@virtual_time
async def test_a_cancelled_caller_does_not_end_the_call_for_others():
    provider = Provider(takes_s=5.0)
    broker = broker_of(provider)
    cancelled = asyncio.ensure_future(ask(broker))
    await asyncio.sleep(1)
    staying = asyncio.ensure_future(ask(broker))
    await asyncio.sleep(1)
    cancelled.cancel()
    assert (await staying).ok
    assert len(provider.asked) == 1


@virtual_time
async def test_cancelling_the_last_caller_ends_the_call_and_the_next_one_works():
    provider = Provider(takes_s=5.0)
    broker = broker_of(provider)
    callers = [asyncio.ensure_future(ask(broker)) for _ in range(3)]
    await asyncio.sleep(1)
    for caller in callers:
        caller.cancel()
    await asyncio.wait(callers)
    assert provider.running == 0
    assert leftover_tasks() == []
    assert (await ask(broker)).ok


@virtual_time
async def test_a_caller_with_a_short_deadline_does_not_end_the_call_for_others():
    provider = Provider(takes_s=5.0)
    broker = broker_of(provider)
    hurried, patient = await asyncio.gather(ask(broker, remaining_s=1.0), ask(broker, remaining_s=20.0))
    assert hurried.failure.kind is ToolErrorKind.TIMEOUT
    assert patient.ok
    assert len(provider.asked) == 1


@virtual_time
async def test_a_tool_that_exceeds_its_timeout_fails():
    broker = broker_of(Provider(takes_s=60.0), timeout_s=2.0)
    result = await ask(broker)
    assert result.failure.kind is ToolErrorKind.TIMEOUT
    assert asyncio.get_running_loop().time() == pytest.approx(2.0, abs=0.1)


@virtual_time
async def test_a_crash_of_a_tool_is_raised_and_not_cached():
    provider = Provider()
    broker = broker_of(provider)
    provider.error = KeyError("a bug")
    with pytest.raises(ToolCrashed):
        await ask(broker)
    provider.error = None
    assert (await ask(broker)).ok


@virtual_time
async def test_wrong_calls_are_explained_and_counted():
    broker = broker_of(Provider())
    assert (await ask(broker, lat=900)).failure.kind is ToolErrorKind.INVALID_ARGUMENTS
    unknown = await broker.call(ToolCall(id="1", name="fly"), context())
    assert unknown.result.failure.kind is ToolErrorKind.UNKNOWN_TOOL
    assert broker.snapshot().tools["look_up"].failures == {"invalid_arguments": 1}


@virtual_time
async def test_results_of_a_tool_that_is_not_cacheable_are_not_cached():
    provider = Provider()
    broker = broker_of(provider, cacheable=False)
    assert [(await ask(broker)).cached for _ in range(2)] == [False, False]


class BrokenStore(MemoryStore):
    async def get(self, *_, **__):
        raise StoreError("gone")

    put = lease = release = forget = take = get


@virtual_time
async def test_a_store_that_fails_costs_calls_never_answers():
    broker = broker_of(Provider(), store=_not_memory(BrokenStore()))
    assert (await ask(broker)).ok
    assert (await ask(broker)).cached  # from this process
    assert broker.snapshot().store_errors >= 3


def _not_memory(store):
    """The same store, but one that other processes share."""

    class Shared:
        def __getattr__(self, name):
            return getattr(store, name)

    return Shared()


@virtual_time
async def test_two_processes_ask_once_between_them_and_one_takes_over_when_the_other_dies():
    clock = asyncio.get_running_loop().time
    shared, provider = MemoryStore(now=clock), Provider(takes_s=1.0)
    one, two = (broker_of(provider, store=_not_memory(shared), clock=clock) for _ in range(2))
    results = await asyncio.gather(*(ask(broker) for broker in (one, two, one, two)))
    assert all(result.ok for result in results)
    assert provider.asked == ["Coimbra"]
    await shared.lease(call_key_of("Faro"), 5.0)  # a process that died holds it
    assert (await ask(two, "Faro")).ok
    assert provider.asked == ["Coimbra", "Faro"]


def call_key_of(query):
    spec = ToolSpec("look_up", "Looks up.", exact=frozenset({"place_id"}))
    return call_key(FunctionTool(spec, Ask, Provider()), Ask(query=query), context())


SPLIT: Splitting[Ask] = Splitting(
    split=lambda arguments: [
        Ask(query=q) for q in ([arguments.query] if isinstance(arguments.query, str) else arguments.query)
    ],
    join=lambda arguments, parts, context: Observation(
        text=" + ".join(part.text if isinstance(part, Observation) else f"<{part.kind.value}>" for part in parts)
    ),
)


@virtual_time
async def test_the_parts_of_a_split_call_run_at_once_and_are_cached_separately():
    provider = Provider(takes_s=1.0)
    broker = broker_of(provider, splitting=SPLIT)
    both = await ask(broker, ["Faro", "Beja"])
    assert both.text == "about Faro + about Beja"
    assert asyncio.get_running_loop().time() == pytest.approx(1.0, abs=0.1)
    assert (await ask(broker, "beja")).cached
    mixed = await ask(broker, ["Évora", "Faro"])
    assert (mixed.text, mixed.cached) == ("about Évora + about Faro", False)
    assert provider.asked == ["Faro", "Beja", "Évora"]


@virtual_time
async def test_not_found_from_the_cache_says_that_nobody_was_asked():
    provider = Provider()
    provider.error = ToolError("no such place", kind=ToolErrorKind.NOT_FOUND)
    broker = broker_of(provider)
    assert [(await ask(broker)).cached for _ in range(3)] == [False, True, True]
    invalid = (await broker.call(ToolCall(id="1", name="look_up", arguments={}), context())).result
    assert not invalid.cached


@virtual_time
async def test_a_split_call_is_cached_only_when_no_part_asked_anybody():
    provider = Provider()

    async def picky(arguments, context):
        if arguments.query == "down":
            raise ToolError("down", kind=ToolErrorKind.UNAVAILABLE)
        if arguments.query == "nowhere":
            raise ToolError("no", kind=ToolErrorKind.NOT_FOUND)
        return await provider(arguments, context)

    def all_or_nothing(arguments, parts, context):
        for part in parts:
            if isinstance(part, ToolError):
                raise part
        return parts[0]

    broker = broker_of(picky, splitting=Splitting(SPLIT.split, all_or_nothing))
    assert [(await ask(broker, ["Faro", "nowhere"])).cached for _ in range(2)] == [False, True]
    assert [(await ask(broker, ["Faro", "down"])).cached for _ in range(2)] == [False, False]


@virtual_time
async def test_a_failed_part_of_a_split_call_leaves_the_others():
    provider = Provider()

    async def picky(arguments, context):
        if arguments.query == "bad":
            raise ToolError("no", kind=ToolErrorKind.NOT_FOUND)
        return await provider(arguments, context)

    broker = broker_of(picky, splitting=SPLIT)
    for _ in range(2):
        assert (await ask(broker, ["good", "bad"])).text == "about good + <not_found>"


def test_calls_that_mean_the_same_have_one_key():
    assert call_key_of("São  Paulo ") == call_key_of("são paulo") == call_key_of("ｓão paulo")
    assert call_key_of("sao paulo") != call_key_of("são paulo")
    tool = FunctionTool(ToolSpec("look_up", "", exact=frozenset({"place_id"})), Ask, Provider())
    ids = [call_key(tool, Ask(query="x", place_id=i), context()) for i in ("ChIJa", "chija")]
    assert ids[0] != ids[1]
    near = [call_key(tool, Ask(query="x", lat=lat), context()) for lat in (40.2, 40.2000000001, 40.3)]
    assert near[0] == near[1] != near[2]


def test_calls_that_may_give_different_results_have_different_keys():
    tool = FunctionTool(ToolSpec("look_up", "", depends_on_photo=True), Ask, Provider())
    other = FunctionTool(ToolSpec("look_up", "", provider="google"), Ask, Provider())
    keys = {
        call_key(tool, Ask(query="x"), context()),
        call_key(tool, Ask(query="x"), context(options=LocateOptions(within=Countries(codes=("PT",))))),
        call_key(tool, Ask(query="x"), context(photo_sha256=("p",))),
        call_key(other, Ask(query="x"), context()),
    }
    assert len(keys) == 4
    assert call_key(tool, Ask(query="x"), context("loc_2", 3.0)) in keys  # who asks does not matter


@given(st.text(max_size=60))
def test_normalising_a_text_twice_changes_nothing(text):
    assert normal_text(normal_text(text)) == normal_text(text)


async def test_cached_results_of_a_photo_are_erased_with_the_photo():
    provider = Provider()
    broker = broker_of(provider, store=_not_memory(MemoryStore(now=Clock())), depends_on_photo=True)
    call = ToolCall(id="1", name="look_up", arguments={"query": "x"})
    for _ in range(2):
        await broker.call(call, context(photo_sha256=("p1",)))
    assert len(provider.asked) == 1
    assert await broker.forget("p1") == 1
    await broker.call(call, context(photo_sha256=("p1",)))
    assert len(provider.asked) == 2


async def test_memory_is_bounded():
    clock = Clock()
    store = MemoryStore(max_bytes=20_000, now=clock)
    broker = broker_of(Provider(), store=store, clock=clock)
    for i in range(200):
        await ask(broker, f"place {i}")
    assert (await ask(broker, "place 199")).cached
    assert not (await ask(broker, "place 0")).cached


@virtual_time
async def test_a_call_running_while_its_photo_is_erased_returns_and_is_not_cached():
    provider = Provider(takes_s=1.0)
    broker = broker_of(provider, depends_on_photo=True)
    mine, other = (ToolContext(context().request, photo_sha256=(photo,)) for photo in ("p1", "p2"))
    call = ToolCall(id="c", name="look_up", arguments={"query": "x"})
    under_way = [asyncio.ensure_future(broker.call(call, each)) for each in (mine, other)]
    await asyncio.sleep(0.5)
    assert await broker.forget("p1") == 0
    assert all(outcome.result.ok for outcome in await asyncio.gather(*under_way))
    assert not (await broker.call(call, mine)).result.cached
    assert (await broker.call(call, other)).result.cached
    assert (await broker.call(call, mine)).result.cached  # a new request about the same photo is a new start


@virtual_time
async def test_results_of_a_photo_are_kept_no_longer_than_the_photo():
    provider, clock = Provider(), Clock()
    spec = ToolSpec("look_up", "Looks up.", depends_on_photo=True, ttl_s=1000.0, stale_s=5000.0)
    broker = Broker([FunctionTool(spec, Ask, provider)], MemoryStore(now=clock), photo_kept_s=300.0, now=clock)
    await ask(broker)
    clock.now += 299
    assert (await ask(broker)).cached
    clock.now += 2
    provider.error = ToolError("down", kind=ToolErrorKind.UNAVAILABLE)
    assert (await ask(broker)).failure.kind is ToolErrorKind.UNAVAILABLE  # nothing old stands in


async def test_a_store_that_cannot_forget_says_so():
    class Deaf(MemoryStore):
        async def forget(self, photo_sha256):
            raise StoreError("not now")

    with pytest.raises(StoreError):
        await broker_of(Provider(), store=Deaf()).forget("p1")
