"""No secret of an installation is anywhere but in its environment and on the wire: a run with every fault, and then all
of its logs, errors, events, replies, tape, cache, run store, egress log, audit log and metrics are searched.
"""

import json
import logging
import os
import traceback
from typing import Any
from urllib.parse import quote

import httpx
import orjson
import pytest
from redis import Redis
from support.endpoint import Reply, text_chunks
from support.endpoint import serving as engine_serving
from support.local_redis import local_redis
from support.provider_server import answer_with_samples, config_for
from support.rude_server import as_json, rude_server
from support.service import PHOTO, an_app, with_tools

from deployments.config import AccessConfig
from deployments.gateway.auth import fingerprint
from deployments.observability.audit import AuditLog
from deployments.runstore import open_store
from deployments.wiring.local import local_tools
from tts.config import OpenAIEngine, ProviderSettings, ScriptedEngine, TapeConfig
from tts.logs import JsonFormatter

KEYED = ("amap", "google", "serper", "tavily", "brave", "ydc", "opencage")
SECRETS = {  # several keys each: a refused one is not used again
    f"{name.upper()}{'_MAPS' if name == 'google' else ''}_API_KEY": ",".join(f"{name}/secret+{i}" for i in range(6))
    for name in KEYED
} | {
    "OPENAI_API_KEY": "engine-secret-1",
    "GEOTTS_REDIS_PASSWORD": "redis-secret-1",
}
CALLER_KEY = "gt_caller-secret-1"
TILE_KEY = "tile-secret-1"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("web_search", {"query": ["bakery", "tram stop"]}),
    ("poi_keyword_search", {"query": "Coimbra"}),
    ("poi_keyword_search", {"query": "Hefei", "country": "CN"}),
    ("poi_detail", {"poi_id": "gm:secretive"}),
    ("reverse_geocode", {"latitude": 31.8, "longitude": 117.2}),
    ("static_map", {"latitude": 31.8, "longitude": 117.2, "zoom": 9}),
    ("static_map", {"latitude": 40.2, "longitude": -8.4, "zoom": 9}),
    ("satellite_map", {"latitude": 40.2, "longitude": -8.4, "zoom": 9}),
]


def needles():
    plain = [key for keys in SECRETS.values() for key in keys.split(",")] + [CALLER_KEY, TILE_KEY]
    return {form.encode() for key in plain for form in (key, quote(key, safe=""), json.dumps(key)[1:-1])}


def found_in(data):
    return {needle.decode() for needle in needles() if needle in data}


def everything_back(seen):
    """All that a request said, keys included, said back."""
    return {"target": seen.target, "headers": seen.headers, "body": seen.body.decode(errors="replace")}


class Faults:
    """A service that repeats its caller's keys in every way it answers: a fault after the other, then good replies."""

    def __init__(self):
        self._well = answer_with_samples(*KEYED, "osm")
        self.number = 0

    def __call__(self, seen):
        self.number += 1
        body = everything_back(seen)
        key = next((value for name, value in seen.headers.items() if "key" in name or name == "authorization"), "")
        faults = [
            as_json(body),
            as_json(body, status=401, **{"www-authenticate": f'Bearer realm="{key}"'}),
            as_json(body, status=500),
            (302, {"location": f"/moved?{seen.target.partition('?')[2]}&was={quote(key)}"}, b""),
            (200, {"content-type": "text/html"}, json.dumps(body).encode()),
            as_json(body, status=429, **{"retry-after": "0", "x-seen": key}),
            "garbage",
            "half",
            "reset",
        ]
        return faults[self.number % len(faults)] if self.number % 4 else self._well(seen)


@pytest.fixture
def environment(monkeypatch):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def logged(tmp_path):
    """Everything any logger says, at its most talkative, as text and as JSON with its traceback."""
    root, before = logging.getLogger(), logging.getLogger().level
    handlers = [logging.FileHandler(tmp_path / "logs.txt"), logging.FileHandler(tmp_path / "logs.jsonl")]
    handlers[1].setFormatter(JsonFormatter("test"))
    levels = {name: logging.getLogger(name).level for name in ("httpx", "httpcore", "geotts", "redis", "asyncio")}
    for handler in handlers:
        root.addHandler(handler)
    for name in levels:
        logging.getLogger(name).setLevel(logging.DEBUG)
    root.setLevel(logging.DEBUG)
    yield
    root.setLevel(before)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    for handler in handlers:
        root.removeHandler(handler)
        handler.close()


def script(path):
    turns = []
    for rollout in range(4):
        for turn in range(3):
            picked = [CALLS[(rollout + 2 * turn + i) % len(CALLS)] for i in (0, 3, 5)]
            calls = [{"name": name, "arguments": {**arguments, "limit": 3 + turn}} for name, arguments in picked]
            turns.append({"rollout": rollout, "turn": turn, "text": "looking", "calls": calls})
        turns.append({"rollout": rollout, "turn": 3, "text": '{"lat": 40.2, "lon": -8.4, "country": "Portugal"}'})
    path.write_bytes(b"\n".join(orjson.dumps(turn) for turn in turns))
    return ScriptedEngine(tape=str(path))


def installation(folder, server, redis_url, cache, world):
    names = ("amap", world, "opencage", "serper", "tavily", "brave", "ydc", "osm", "offline")
    tools = config_for(server, *names, retries=1, timeout_s=2.0)
    urls = {**tools.settings["osm"].urls, "satellite_tiles": f"{server.url}/{{z}}/{{x}}/{{y}}.png?key={TILE_KEY}"}
    settings = {**tools.settings, "osm": tools.settings["osm"].model_copy(update={"urls": urls})}
    keys = folder / "keys.txt"
    keys.write_text(f"desk {fingerprint(CALLER_KEY)}\n")
    args = an_app(script(folder / "script.jsonl"), access=AccessConfig(mode="keys", keys_file=str(keys)))
    tools = tools.model_copy(
        update={
            "settings": {name: ProviderSettings.model_validate(kept.model_dump()) for name, kept in settings.items()},
            "cache": redis_url if cache == "redis" else f"sqlite:///{folder}/cache.sqlite",
            "outgoing_log": str(folder / "outgoing.jsonl"),
            "tape": TapeConfig(path=str(folder / "run.tape"), mode="record"),
        }
    )
    return args.model_copy(update={"tools": tools})


async def send_requests(http, replies, n):
    """Requests of every kind, with and without a right key; all that comes back is kept."""
    data = {"n_parallel": "4", "include": "full", "stop": "none"}
    bearing = {"Authorization": f"Bearer {CALLER_KEY}"}
    for i in range(n):
        for accept in ("application/json", "text/event-stream"):
            form = {"files": {"image": PHOTO}, "data": {**data, "seed": str(i)}}
            reply = await http.post("/locate", **form, headers={**bearing, "Accept": accept})
            replies.append(reply)
            run = f"/locate/{reply.headers['x-request-id']}"
            replies += [await http.get(run, headers=bearing), await http.get(run + "/events", headers=bearing)]
    replies.append(await http.post("/locate", files={"image": b"nonsense"}, headers=bearing))
    replies.append(await http.get("/metrics", headers={"X-Api-Key": CALLER_KEY + "x"}))
    replies.append(await http.get("/metrics", headers=bearing))
    replies.append(await http.get("/readyz"))


def kept_in(redis_url):
    """Every value in Redis, whatever its type."""
    with Redis.from_url(redis_url, password=SECRETS["GEOTTS_REDIS_PASSWORD"]) as redis:
        read = {
            b"string": redis.get,
            b"hash": redis.hgetall,
            b"stream": redis.xrange,
            b"zset": lambda key: redis.zrange(key, 0, -1),
            b"set": redis.smembers,
            b"none": redis.get,  # it has expired since the scan found it
        }
        return b"\n".join(repr((key, read[redis.type(key)](key))).encode() for key in redis.scan_iter())


@pytest.mark.parametrize(("cache", "world"), [("redis", "google"), ("sqlite", "osm")])
async def test_a_run_with_faults_leaves_no_secret_anywhere(data_store, tmp_path, environment, logged, cache, world):
    replies: list[httpx.Response] = []
    (tmp_path / "redis").mkdir()
    with local_redis(tmp_path / "redis") as redis_url:
        with Redis.from_url(redis_url) as admin:
            admin.config_set("requirepass", SECRETS["GEOTTS_REDIS_PASSWORD"])
        async with rude_server(Faults()) as server:
            args = installation(tmp_path, server, redis_url, cache, world)
            tools = local_tools(args)
            store = open_store(redis_url if cache == "redis" else f"sqlite:///{tmp_path}/runs.sqlite", 60.0)
            audit = AuditLog(tmp_path / "audit.jsonl", args)
            async with with_tools(args, tools, store=store, observers=[audit]) as http:
                await send_requests(http, replies, n=2)
                snapshots = await tools.brokers.snapshots()
            in_redis = kept_in(redis_url)
            audit.close()
            # the service did get the keys: otherwise this test shows nothing
            wire = " ".join(found_in(orjson.dumps([everything_back(seen) for seen in server.seen])))
    for name in ("serper", "amap", "tile" if world == "osm" else "google"):
        assert name in wire, f"{name} was not asked with its key"
    failures = sum(sum(figures.failures.values()) for figures in snapshots["local"].tools.values())
    assert failures >= 2, "hardly anything went wrong"

    files = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    reply_bytes = b"\n".join(reply.content + str(reply.headers).encode() for reply in replies)
    files |= {"replies": reply_bytes, "redis": in_redis, "snapshots": repr(snapshots).encode()}
    for name in ("logs.txt", "logs.jsonl", "run.tape", "outgoing.jsonl", "audit.jsonl", "replies"):
        assert files[name], f"{name} is empty: the search would show nothing"
    assert files["redis" if cache == "redis" else "cache.sqlite"]
    assert {name: found for name, data in files.items() if (found := found_in(data))} == {}


@pytest.mark.parametrize("status", [401, 429, 500])
async def test_an_engine_that_repeats_its_key_in_an_error_does_not_spread_it(
    data_store, tmp_path, environment, logged, status
):
    key = os.environ["OPENAI_API_KEY"]
    error = Reply(status, {"error": {"message": "x" * 190 + f" incorrect API key provided: {key}"}}, {"x-seen": key})
    play = lambda body, number: error if number % 2 == 0 else text_chunks('{"lat": 1.0, "lon": 2.0}')  # noqa: E731
    replies = []
    async with engine_serving(play) as endpoint:
        engine = OpenAIEngine(base_url=endpoint.url, model="m", retries=1, backoff_s=0.01)
        args = an_app().model_copy(update={"engine": engine})
        async with with_tools(args, local_tools(args)) as http:
            form = {"files": {"image": PHOTO}, "data": {"n_parallel": "3", "include": "full", "stop": "none"}}
            replies.append(await http.post("/locate", **form))
            replies.append(await http.post("/locate", **form, headers={"Accept": "text/event-stream"}))
        assert {headers["authorization"] for headers in endpoint.headers} == {f"Bearer {key}"}
    assert any("answered" in reply.text or reply.status_code == 200 for reply in replies)
    files = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    files["replies"] = b"\n".join(reply.content for reply in replies)
    assert files["logs.txt"]
    assert {name: found for name, data in files.items() if (found := found_in(data))} == {}


def test_the_search_for_secrets_finds_a_planted_one():
    try:
        raise ValueError(f"key {CALLER_KEY}")
    except ValueError:
        assert found_in(traceback.format_exc().encode()) == {CALLER_KEY}
    assert found_in(b"?key=serper%2Fsecret%2B1") == {"serper%2Fsecret%2B1"}
