"""Several endpoints of one model: photos keep theirs, the busy overflow, the dead are left out and come back."""

import asyncio
import hashlib
import json
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

import pytest
from support.basics import a_context, leftover_tasks, sign_bytes
from support.endpoint import CUT, Reply, chunk, serving, text_chunks, usage

from tts.config import OpenAIEngine
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.domain.messages import Message, TextPart, text_message
from tts.domain.photo_cleaning import load_photo
from tts.errors import DeadlineExceeded, GeoTTSError, ModelError
from tts.inference.openai.engine import OpenAIModel
from tts.inference.openai.pool import EndpointPool
from tts.ports.model_client import ModelRequest, Sampling

PHOTOS = [load_photo(sign_bytes(f"Sign {i}")) for i in range(8)]


@dataclass
class PrefixCache:
    """An endpoint with four slots that remembers the last prefixes it has read, as vLLM does, in tokens of 40 bytes."""

    most: int = 400
    known: dict[str, None] = field(default_factory=dict)
    cached: int = 0
    read: int = 0

    def __call__(self, body, number):
        text = json.dumps(body["messages"])
        pieces = [text[:end] for end in range(40, len(text), 40)]
        hits = 0
        for piece in pieces:
            digest = hashlib.sha256(piece.encode()).hexdigest()
            hits += digest in self.known and hits >= 0
            self.known.pop(digest, None)
            self.known[digest] = None
        while len(self.known) > self.most * 40:
            self.known.pop(next(iter(self.known)))
        self.cached = self.cached + hits
        self.read = self.read + len(pieces)
        return [0.01, *text_chunks("I see")[:-2], usage(prompt=len(pieces), cached=hits), b"data: [DONE]\n\n"]


def request_about(photo, session, turn=0):
    opening = list(GenericDialect().opening(Task(photos=(photo,))))
    for i in range(turn):
        opening += [
            Message(role="assistant", parts=(TextPart(text=f"turn {i} of {session}"),)),
            text_message("user", "on"),
        ]
    return ModelRequest(a_context(), session, tuple(opening), Sampling(max_tokens=50), photos=(photo,))


async def all_deltas(pool, request):
    return [delta async for delta in pool.generate(request)]


async def pool_over(stack, *repliers, **config):
    endpoints = [await stack.enter_async_context(serving(replier)) for replier in repliers]
    first, *others = [endpoint.url for endpoint in endpoints]
    config = {"model": "m", "server": "sglang", "backoff_s": 0.01, **config}
    pool = EndpointPool(OpenAIEngine(base_url=first, base_urls=tuple(others), **config))
    stack.push_async_callback(pool.aclose)
    return pool, endpoints


async def test_rollouts_about_a_photo_meet_at_one_endpoint_and_stay_there():
    async with AsyncExitStack() as stack:
        pool, endpoints = await pool_over(stack, lambda b, n: text_chunks("ok"), lambda b, n: text_chunks("ok"))
        for photo in [load_photo(sign_bytes(f"Sign {i}")) for i in range(20)]:
            before = [len(endpoint.bodies) for endpoint in endpoints]
            for turn in range(3):
                await asyncio.gather(
                    *(all_deltas(pool, request_about(photo, f"{photo.sha256}/{i}", turn)) for i in range(4))
                )
            grown = [len(endpoint.bodies) - old for endpoint, old in zip(endpoints, before, strict=True)]
            assert sorted(grown) == [0, 12]
        assert all(endpoint.bodies for endpoint in endpoints)
    assert not leftover_tasks()


async def share_cached(n_endpoints, photos, turns=4, n=4):
    """Share of prompt tokens found in a cache, over queries of four rollouts that come two at a time."""
    caches = [PrefixCache() for _ in range(n_endpoints)]
    async with AsyncExitStack() as stack:
        pool, _ = await pool_over(stack, *caches, max_running=4) if n_endpoints > 1 else (None, None)
        if pool is None:
            endpoint = await stack.enter_async_context(serving(caches[0]))
            pool = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model="m", server="sglang", max_running=8))
            stack.push_async_callback(pool.aclose)

        async def query(photo):
            for turn in range(turns):
                await asyncio.gather(
                    *(all_deltas(pool, request_about(photo, f"{photo.sha256}/{i}", turn)) for i in range(n))
                )

        for pair in zip(photos[::2], photos[1::2], strict=True):
            await asyncio.gather(*map(query, pair))
    return sum(cache.cached for cache in caches) / sum(cache.read for cache in caches)


@pytest.mark.slow
async def test_two_endpoints_reuse_at_least_nine_tenths_of_the_cached_tokens_of_one():
    one, two = await share_cached(1, PHOTOS), await share_cached(2, PHOTOS)
    assert two >= 0.9 * one > 0.5


async def test_a_full_endpoint_gives_its_next_conversation_to_the_least_busy_one():
    slow = lambda body, number: [0.3, *text_chunks("ok")]  # noqa: E731
    async with AsyncExitStack() as stack:
        pool, endpoints = await pool_over(stack, slow, slow, max_running=2)
        await asyncio.gather(*(all_deltas(pool, request_about(PHOTOS[0], f"s{i}")) for i in range(4)))
        assert sorted(len(endpoint.bodies) for endpoint in endpoints) == [2, 2]


@pytest.mark.parametrize("failure", [Reply(503, {"error": "draining"}), [CUT], Reply(500, {"error": "broken"})])
async def test_a_conversation_goes_on_elsewhere_when_its_endpoint_fails_before_a_word(failure):
    broken = True

    def ill(body, number):
        return failure if broken else text_chunks("ok")

    async with AsyncExitStack() as stack:
        pool, endpoints = await pool_over(stack, ill, ill, lambda b, n: text_chunks("ok"))
        for i, photo in enumerate(PHOTOS):
            assert "ok" in "".join(delta.text for delta in await all_deltas(pool, request_about(photo, f"s{i}")))
        # left out after a failure: each ill endpoint was asked once or so, not for every photo
        assert sum(len(endpoint.bodies) for endpoint in endpoints[:2]) <= 4
        assert len(endpoints[2].bodies) == len(PHOTOS)


async def test_a_turn_that_has_begun_is_never_repeated_at_another_endpoint():
    async with AsyncExitStack() as stack:
        cut = lambda body, number: [chunk("I see"), CUT]  # noqa: E731
        pool, endpoints = await pool_over(stack, cut, cut)
        with pytest.raises(ModelError) as broken:
            await all_deltas(pool, request_about(PHOTOS[0], "s"))
        assert broken.value.fields["transient"]
        assert sum(len(endpoint.bodies) for endpoint in endpoints) == 1


async def test_the_pool_raises_an_error_after_the_usual_retries_if_all_endpoints_fail():
    async with AsyncExitStack() as stack:
        down = lambda body, number: Reply(503, {"error": "down"})  # noqa: E731
        pool, endpoints = await pool_over(stack, down, down, retries=2)
        with pytest.raises(GeoTTSError, match="503"):
            await all_deltas(pool, request_about(PHOTOS[0], "s"))
        assert [len(endpoint.bodies) for endpoint in endpoints] == [3, 3]


async def test_a_refused_request_is_not_tried_at_another_endpoint():
    async with AsyncExitStack() as stack:
        wrong = lambda body, number: Reply(401, {"error": {"message": "wrong key"}})  # noqa: E731
        pool, endpoints = await pool_over(stack, wrong, wrong)
        with pytest.raises(ModelError, match="401"):
            await all_deltas(pool, request_about(PHOTOS[0], "s"))
        assert sum(len(endpoint.bodies) for endpoint in endpoints) == 1


async def test_abandoning_a_conversation_leaves_nothing_running():
    async with AsyncExitStack() as stack:
        endless = lambda body, number: [chunk("a"), *[0.05, chunk("b")] * 500]  # noqa: E731
        pool, endpoints = await pool_over(stack, endless, endless)
        generation = pool.generate(request_about(PHOTOS[0], "s"))
        while not (await anext(generation)).text:
            pass
        await generation.aclose()
        assert pool.running == 0
        await asyncio.sleep(0.2)
        assert sum(endpoint.streaming for endpoint in endpoints) == 0


async def test_the_time_left_shrinks_from_endpoint_to_endpoint():
    async with AsyncExitStack() as stack:
        late = lambda body, number: [0.2, CUT]  # noqa: E731
        pool, _ = await pool_over(stack, late, late, retries=16)
        request = request_about(PHOTOS[0], "s")
        request = replace(request, context=a_context(0.8))
        started = asyncio.get_running_loop().time()
        with pytest.raises((DeadlineExceeded, ModelError)):
            await all_deltas(pool, request)
        assert asyncio.get_running_loop().time() - started < 3.0
