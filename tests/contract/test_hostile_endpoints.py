"""What every profile owes its caller when the model's endpoint is hostile: bounded time and memory, and a record of it.

Endpoints that hang, never stop, break the protocol, send what no model writes, lie about usage, or die in the middle,
on loopback. The engine, the dialects with the settings of their profiles, and the loop of rollouts are the real ones.
"""

import asyncio
import itertools
import json
import resource
import ssl
from contextlib import asynccontextmanager
from functools import lru_cache

import pytest
from support.basics import a_context, leftover_tasks
from support.dialect_rollouts import toolbox
from support.endpoint import CUT, DONE, Reply, chunk, serving, text_chunks, usage
from support.faulty_model import FaultyModel
from support.rude_server import as_json, rude_server

from deployments.config.loading import load_config
from deployments.wiring.parts import make_dialect, make_model
from tts.dialects import DIALECTS
from tts.dialects.released.importing import IMPORTABLE
from tts.domain.events import RolloutFinished, parse_event
from tts.domain.trajectory import fold
from tts.inference.openai import connection as openai_connection
from tts.inference.openai import streamed_completion as openai_stream
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.profiles import load_profile, profile_names
from tts.rollout.agent import Agent
from tts.rollout.group import run_group

pytestmark = pytest.mark.slow
DEADLINE_S = 0.5  # of a group
ROLLOUTS = 2
MOST_BYTES = 144 * 2**20  # of all forms at once, the endpoints' own included
DEEP = "[" * 100_000
BIG = 10**15
SEARCH = {"name": "poi_keyword_search", "arguments": '{"query": "Otaru"}'}


def reply_with_calls(*functions, finish="tool_calls", **more):
    calls = [{"index": i, "id": f"x{i}", "function": one, **more} for i, one in enumerate(functions)]
    return [chunk("Let me look."), chunk(tool_calls=calls), chunk(finish=finish), DONE]


def reply_with_usage(**counts):
    """Says nothing of use, and lies about what it took."""
    return [chunk("A street."), chunk(finish="stop"), {"choices": [], "usage": counts}, DONE]


def at_once(text):
    return [chunk(text), chunk(finish="stop"), DONE]


def deltas(*found):
    return [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in found]


HANGS = {
    "says nothing after its head": lambda: [600.0],
    "says a word and hangs": lambda: [chunk("I see"), 600.0],
    "hangs after its reason to stop": lambda: [chunk("I see"), chunk(finish="stop"), 600.0],
    "keeps alive for ever, by comments": lambda: itertools.cycle([b": wait\n\n", 0.02]),
    "keeps alive for ever, by empty chunks": lambda: itertools.cycle([chunk(""), 0.02]),
    "asks to come back in a year": lambda: Reply(429, {"error": "busy"}, {"Retry-After": "31536000"}),
}
ENDLESS = {
    "a line without an end": lambda: itertools.chain([b"data: {"], itertools.repeat(b"x" * 65536)),
    "text without an end": lambda: itertools.repeat(chunk("word " * 200)),
    "thought without an end": lambda: itertools.repeat(chunk(reasoning_content="hm " * 200)),
    "calls without an end": lambda: (
        chunk(tool_calls=[{"index": i, "id": str(i), "function": SEARCH}]) for i in itertools.count()
    ),
    "calls without an index or an end": lambda: (
        chunk(tool_calls=[{"id": str(i), "function": SEARCH}]) for i in itertools.count()
    ),
    "arguments without an end": lambda: itertools.repeat(
        chunk(tool_calls=[{"index": 0, "function": {"name": "a", "arguments": "x" * 4000}}])
    ),
    "comments without an end": lambda: itertools.repeat(b": " + b"x" * 4000 + b"\n"),
    "usage without an end": lambda: itertools.repeat(usage(prompt=1)),
}
BROKEN = {
    "events that are no JSON": lambda: [b"data: oops\n\n", b"data: {]\n\n", b"\xff\xfe\x00data\n\n", DONE],
    "half a character": lambda: [b'data: {"choices": [{"delta": {"content": "\xe3\x81"}}]}\n\n', DONE],
    "half a surrogate": lambda: [b'data: {"choices": [{"delta": {"content": "\\ud800"}}]}\n\n', DONE],
    "NUL and control characters": lambda: text_chunks("\x00\x1b[2J\x07{\x00}"),
    "no event at all": lambda: [b"<html>Bad gateway</html>"],
    "nothing but the end": lambda: [DONE],
    "an error in the stream": lambda: [chunk("I"), {"error": {"message": "CUDA out of memory"}}],
    "an error that is no text": lambda: [{"error": [[{"message": {}}]]}],
    "a page instead of a completion": lambda: Reply(200, b"<html>hello</html>", {"Content-Type": "text/html"}),
    "a number instead of a completion": lambda: Reply(200, 7),
    "a failure that is no JSON": lambda: Reply(500, b"\x00" * 1000),
    "a redirect to itself": lambda: Reply(302, b"", {"Location": "/v1/chat/completions"}),
    "a refusal for ever": lambda: Reply(400, {"error": {"message": "no", "code": {"a": []}, "param": 3}}),
}
WRONG = {
    "choices that are none": lambda: [{"choices": {"0": 1}}, {"choices": ["a", 3]}, {"choices": [{"delta": 1}]}, DONE],
    "deltas of wrong types": lambda: [
        *deltas({"content": 7}, {"content": {"a": 1}}, {"reasoning": [1]}, {"tool_calls": "x"}, {"tool_calls": [3]}),
        chunk(finish="stop"),
        DONE,
    ],
    "calls of wrong types": lambda: [
        *deltas(*({"tool_calls": [{"index": i, "id": 5, "function": SEARCH}]} for i in ("a", -1, BIG, True, None))),
        *deltas({"tool_calls": [{"index": 0, "function": {"name": [], "arguments": 3}}]}),
        chunk(finish="tool_calls"),
        DONE,
    ],
    "a reason that is none": lambda: [chunk("I see"), chunk(finish={"a": 1}), chunk(finish="because"), DONE],
    "arguments nested without bottom": lambda: reply_with_calls({"name": "poi_keyword_search", "arguments": DEEP}),
    "a chunk nested without bottom": lambda: [b"data: " + DEEP.encode() + b"\n\n", DONE],
    "a tool that is none": lambda: reply_with_calls({"name": "../../etc/passwd\x00", "arguments": "{}"}),
    "one id for every call": lambda: reply_with_calls(SEARCH, SEARCH, SEARCH, id="same"),
    "a hundred calls at once": lambda: reply_with_calls(*[SEARCH] * 100),
    "positions that are none": lambda: text_chunks('{"lat": 1e999, "lon": NaN, "city": ["Otaru"], "country": 7}'),
    "nothing, turn for turn": lambda: text_chunks(""),
    "cut off, turn for turn": lambda: text_chunks("I think that", finish="length"),
}
HUGE = {
    "one token of 400 KB": lambda: at_once("x" * 400_000),
    "a name of 400 KB": lambda: reply_with_calls({"name": "n" * 400_000, "arguments": "{}"}),
    "an id of 400 KB": lambda: reply_with_calls(SEARCH, id="i" * 400_000),
    "arguments of 400 KB": lambda: reply_with_calls(
        {"name": "poi_keyword_search", "arguments": json.dumps("q" * 400_000)}
    ),
    "a number of 100,000 digits": lambda: text_chunks('{"lat": ' + "9" * 100_000 + "}"),
    "blanks of 100 KB": lambda: at_once("<answer>" + " \n" * 50_000 + "x"),
    "tags of 100 KB that nothing closes": lambda: at_once("<think><answer><tool_call>{<useful>[" * 2_800),
    "an answer that opens for 100 KB": lambda: at_once('{"lat": [' * 11_000),
    "a completion that is too large": lambda: Reply(200, {"choices": [{"message": {"content": "x" * 1_500_000}}]}),
    "a refusal that is too large": lambda: Reply(400, {"error": "x" * 1_500_000}),
}
LIES = {
    "tokens below nothing": lambda: reply_with_usage(prompt_tokens=-5, completion_tokens=-(10**18)),
    "more tokens than there are": lambda: reply_with_usage(prompt_tokens=BIG, completion_tokens=BIG),
    "tokens of a float's size": lambda: reply_with_usage(prompt_tokens=1e308, completion_tokens=1e308),
    "more cached than sent": lambda: reply_with_usage(
        prompt_tokens=1, completion_tokens=1, prompt_tokens_details={"cached_tokens": BIG}
    ),
    "tokens that are no number": lambda: reply_with_usage(prompt_tokens="many", completion_tokens=[1], total_tokens={}),
    "usage that is none": lambda: [chunk("A street."), chunk(finish="stop"), {"choices": [], "usage": "yes"}, DONE],
    "timings that are none": lambda: [chunk("A street."), {"timings": {"cache_n": -1, "prompt_n": "x"}}, DONE],
}
DEATHS = {
    "dead before a word": lambda: [CUT],
    "dead in the middle of a word": lambda: [chunk("I almost kn"), CUT],
    "dead in the middle of a call": lambda: [*reply_with_calls(SEARCH)[:2], CUT],
    "dead after its reason to stop": lambda: [*text_chunks('{"lat": 43.19, "lon": 140.99}')[:-2], CUT],
}
STREAMS = HANGS | ENDLESS | BROKEN | WRONG | HUGE | LIES | DEATHS
ON_THE_WIRE = ("garbage", "half", "cut", "reset", "silence", "drip", "huge", "bomb", "bad-gzip", "short-gzip", "loop")


@asynccontextmanager
async def playing(name):
    """The base URL of an endpoint that behaves so."""
    async with serving(lambda body, number: STREAMS[name]()) as endpoint:
        yield endpoint.url


@asynccontextmanager
async def rude_endpoint(name):
    """One that misbehaves below HTTP, but for its list of models."""

    def answer(seen):
        return name if seen.method == "POST" else as_json({"data": [{"id": "m"}]})

    async with rude_server(answer) as server:
        yield f"{server.url}/v1"


@asynccontextmanager
async def faulty(name):
    """A model that makes every mistake it can, as often as it can."""
    async with serving(FaultyModel(dict.fromkeys(name.split(), 2))) as endpoint:
        yield endpoint.url


MISTAKES = ("cut", "unusable invalid", "invalid repeated context", "cut unusable invalid repeated context")
HOSTILE = (
    *((playing, name) for name in STREAMS),
    *((rude_endpoint, name) for name in ON_THE_WIRE),
    *((faulty, name) for name in MISTAKES),
)


@pytest.fixture(scope="module")
def tools():
    return toolbox()


@pytest.fixture(scope="module")
def trust():
    """Certificates are read once, not for each of some thousand engines: nothing here speaks TLS."""
    made = ssl.create_default_context()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ssl, "create_default_context", lambda *args, **kwargs: made)
        yield


@pytest.fixture(autouse=True)
def small(monkeypatch, trust):
    """So that what is too large is so at once."""
    monkeypatch.setattr(openai_connection, "MAX_REPLY_BYTES", 2**20)
    monkeypatch.setattr(openai_stream, "_MAX_LINE_BYTES", 2**19)


loaded = lru_cache(load_profile)


SHIPPED: dict[str, dict[str, str]] = {profile: {} for profile in profile_names()}
TOLERANT = {
    f"{profile}, served": {"behaviour": "served"}
    for profile in profile_names()
    if loaded(profile).dialect_settings.behaviour == "released"
}
OTHER_LOOPS = {
    "thinking_with_map, demo": {"released_path": "demo"},
    "reverse, rl": {"released_path": "rl"},
}
FORMS = SHIPPED | TOLERANT | OTHER_LOOPS  # by name: what differs from the settings of the profile


def config_of(form, url):
    patience = {"retries": 1, "backoff_s": 0.01, "first_token_s": 0.15, "idle_s": 0.15, "remember_days": 0}
    asked = {"engine": patience, "dialect_settings": FORMS[form]}
    return load_config(None, asked, profile=loaded(form.partition(",")[0]).tree(model="m", endpoint=url))


def test_every_dialect_is_tried_in_every_form():
    tried = [config_of(form, "http://127.0.0.1:1/v1") for form in FORMS]
    assert {args.dialect for args in tried} == set(DIALECTS)
    served = {args.dialect for args in tried if args.dialect_settings.behaviour == "served"}
    assert served == set(DIALECTS)
    assert {args.dialect for args in tried if args.dialect_settings.behaviour == "released"} == set(IMPORTABLE)


async def rollouts(profile, url, photo, tools):
    """The items of two rollouts, and the engine they ran on."""
    args = config_of(profile, url)
    model = make_model(args)
    group = GroupRequest(
        context=a_context(DEADLINE_S),
        photos=(photo,),
        tasks=tuple(RolloutTask(rollout_id=i, seed=i + 1) for i in range(ROLLOUTS)),
        n_total=ROLLOUTS,
        limits=args.limits,
    )
    agent = Agent(model, make_dialect(args.dialect, args), tools)
    items = [item async for batch in run_group(agent, group, coalesce_s=0.02) for item in batch]
    return items, model


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def wrong_with(items):
    """What is not as it should be; None when every rollout is a record that can be read back."""
    ends = [item for item in items if isinstance(item, RolloutFinished)]
    if sorted(end.rollout_id for end in ends) != list(range(ROLLOUTS)):
        return f"the ends of {[end.rollout_id for end in ends]}"
    events = [item.model_copy(update={"seq": i + 1}) for i, item in enumerate(items) if hasattr(item, "seq")]
    if [parse_event(event.model_dump_json()) for event in events] != events:
        return "events that are not read back as they were"
    if {t.rollout_id: t.stop_reason for t in fold(events).trajectories} != {e.rollout_id: e.stop_reason for e in ends}:
        return "trajectories that end otherwise"
    return None


@pytest.mark.parametrize(("kind", "name"), HOSTILE, ids=[name for _, name in HOSTILE])
async def test_a_hostile_endpoint_fails_rollouts_in_bounded_time_and_memory(kind, name, sign_photo, tools):
    before = peak_bytes()
    async with kind(name) as url, asyncio.timeout(30):
        found = await asyncio.gather(*(rollouts(profile, url, sign_photo, tools) for profile in FORMS))
        running = [model.running for _, model in found]
        for _, model in found:
            await model.aclose()
    problems = {profile: wrong_with(items) for profile, (items, _) in zip(FORMS, found, strict=True)}
    assert not {profile: problem for profile, problem in problems.items() if problem}
    assert set(running) == {0}
    assert peak_bytes() - before < MOST_BYTES
    async with asyncio.timeout(5):
        while leftover_tasks():  # noqa: ASYNC110 - connections of the endpoint close a moment later
            await asyncio.sleep(0.005)
