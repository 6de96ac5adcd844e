"""Region search from the request to the service and back: real HTTP, a service that fetches the picture, and nothing
left of it afterwards."""

import asyncio
import io
import json
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import numpy as np
import orjson
import pytest
from PIL import Image
from support.basics import sign_bytes
from support.made_detectors import detector
from support.provider_server import PUBLIC_URL, config_for, samples
from support.rude_server import as_json, rude_server
from support.service import an_app, idle, serving

from deployments.wiring.local import local_tools
from tts.api.client import Client
from tts.config import BlurConfig, GatewayUpload, RegionSearchConfig, ScriptedEngine, StoreUpload, ToolsConfig
from tts.config.request_defaults import RequestDefaults
from tts.domain.events import LeftMachine, ToolResulted, parse_event
from tts.domain.request import LocateOptions
from tts.errors import ToolErrorKind

pytestmark = pytest.mark.slow

OWNER = b"Made by Erika Mustermann"


def with_metadata(photo):
    out, tags = io.BytesIO(), Image.Exif()
    tags[0x013B] = OWNER.decode()
    tags.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 24.0), 3: "E", 4: (2.0, 21.0, 3.6)})
    Image.open(io.BytesIO(photo)).save(out, "JPEG", exif=tags, comment=OWNER)
    return out.getvalue()


PHOTO = with_metadata(sign_bytes("Rue de Rivoli"))
PROGRAM = "import sys; from deployments.cli import main; sys.argv[0] = 'geotts'; main()"
NDJSON = {"Accept": "application/x-ndjson"}
BBOX = [0.25, 0.25, 0.75, 0.75]
HITS = samples("serper_lens")["/lens"]["reply"]


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    monkeypatch.setenv("SERPER_API_KEY", "serper-key-of-this-test")
    monkeypatch.setenv("GOOGLE_VISION_API_KEY", "vision-key-of-this-test")


@pytest.fixture
def looking(tmp_path):
    """One search by picture, then an answer."""
    answer = '{"lat": 48.86, "lon": 2.34, "city": "Paris", "country": "France"}'
    calls = [{"name": "image_search", "arguments": {"bbox": BBOX}}]
    turns = [{"rollout": 0, "turn": 0, "text": "looking", "calls": calls}, {"rollout": 0, "turn": 1, "text": answer}]
    path = tmp_path / "script.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(turn) for turn in turns))
    return ScriptedEngine(tape=str(path))


@dataclass
class Lens:
    """A search service that fetches the picture it is told of, as Lens does, and answers after that."""

    gateway: str = ""
    urls: list = field(default_factory=list)
    replies: list = field(default_factory=list)
    answer: object = None
    fetches: int = 1

    async def __call__(self, seen):
        url = json.loads(seen.body)["url"]
        self.urls.append(url)
        async with httpx.AsyncClient() as http:
            for _ in range(self.fetches):
                self.replies.append(await http.get(url.replace(PUBLIC_URL, self.gateway)))
        return await self.answer() if callable(self.answer) else self.answer or as_json(HITS)


@asynccontextmanager
async def a_service(engine, lens, *providers, region_search=None, **gateway):
    """A client of a real service, its tools, and the server that plays the search services."""
    async with rude_server(lens) as server:
        region_search = region_search or RegionSearchConfig(allowed=True)
        tools = config_for(server, *(providers or ("serper_lens",)), "offline", region_search=region_search)
        args = an_app(engine, public_url=PUBLIC_URL, **gateway).model_copy(update={"tools": tools})
        made = local_tools(args)
        async with serving(args, tools=made) as (url, running):
            if isinstance(lens, Lens):
                lens.gateway = url
            async with httpx.AsyncClient(base_url=url, timeout=30) as http:
                yield http, running, made, server


def shelf_of(made):
    return made.brokers._tooling.catalog.shelf


async def locate_photo(http, **fields):
    data = {"n_parallel": "1", "depth": "deep", **fields}
    reply = await http.post("/locate", files={"image": PHOTO}, data=data, headers=NDJSON)
    assert reply.status_code == 200, reply.text
    return [parse_event(line) for line in reply.text.splitlines() if line.strip()]


def requests_in(events):
    return next((event.sent for event in events if isinstance(event, LeftMachine)), ())


def result_in(events):
    (result,) = [event.result for event in events if isinstance(event, ToolResulted)]
    return result


async def test_a_search_service_fetches_the_region_and_no_picture_of_it_remains(data_store, looking):
    lens = Lens()
    async with a_service(looking, lens) as (http, _, _, _):
        events = await locate_photo(http, allow_region_search="true")
        again = await http.get(lens.urls[0].replace(PUBLIC_URL, ""))
    found = result_in(events)
    assert found.ok, found.text
    assert [fact.url for fact in found.facts] == [hit["link"] for hit in HITS["organic"]]
    (picture,) = lens.replies
    assert (picture.status_code, picture.headers["cache-control"]) == (200, "no-store")
    assert "noindex" in picture.headers["x-robots-tag"]
    seen = Image.open(io.BytesIO(picture.content))
    whole = Image.open(io.BytesIO(PHOTO))
    assert seen.size == (whole.width // 2, whole.height // 2)
    assert PHOTO.count(OWNER) == 2
    assert OWNER not in picture.content
    assert (dict(seen.getexif()), set(seen.info) & {"exif", "comment", "icc_profile", "xmp"}) == ({}, set())
    assert again.status_code == 404
    name = lens.urls[0].rpartition("/")[2]
    assert [(request.method, request.host) for request in requests_in(events)] == [
        ("OFFER", "photos.example"), ("POST", "127.0.0.1"), ("SERVE", "127.0.0.1"), ("WITHDRAW", "photos.example")
    ]  # fmt: skip
    assert [request.bytes_sent for request in requests_in(events) if request.method == "SERVE"] == [
        len(picture.content)
    ]
    assert not any(name in request.url for request in requests_in(events))


@pytest.mark.parametrize(
    ("allowed", "consents", "kind"),
    [
        (True, False, ToolErrorKind.NOT_ALLOWED),
        (False, True, ToolErrorKind.UNKNOWN_TOOL),
        (False, False, ToolErrorKind.UNKNOWN_TOOL),
    ],
)
async def test_no_region_is_sent_unless_operator_and_caller_agree(
    data_store, looking, allowed, consents, kind, tmp_path
):
    lens = Lens()
    region_search = RegionSearchConfig(allowed=allowed)
    async with a_service(looking, lens, region_search=region_search) as (http, _, _, server):
        events = await locate_photo(http, **({"allow_region_search": "true"} if consents else {}))
    failure = result_in(events).failure
    assert failure.kind is kind
    assert ("allow_region_search" in failure.detail) == allowed
    assert server.seen == []
    assert requests_in(events) == ()


async def test_the_route_of_regions_is_unlisted_and_exists_only_if_search_is_allowed(data_store, looking):
    name = "A" * 43 + ".jpg"
    async with a_service(looking, Lens()) as (http, _, _, _):
        assert (await http.get(f"/regions/{name}")).status_code == 404
        assert (await http.get("/regions/")).status_code == 404
        assert (await http.get("/regions/short.jpg")).status_code == 404
        assert "/regions" not in (await http.get("/openapi.json")).text
    off = RegionSearchConfig(allowed=False)
    async with a_service(looking, Lens(), region_search=off) as (http, _, _, _):
        assert "there is no such picture" not in (await http.get(f"/regions/{name}")).text


async def test_a_region_picture_can_be_fetched_max_fetches_times(data_store, looking):
    lens = Lens(fetches=4)
    few = RegionSearchConfig(allowed=True, upload=GatewayUpload(max_fetches=2))
    async with a_service(looking, lens, region_search=few) as (http, _, _, _):
        events = await locate_photo(http, allow_region_search="true")
    assert [reply.status_code for reply in lens.replies] == [200, 200, 404, 404]
    assert len([request for request in requests_in(events) if request.method == "SERVE"]) == 2


@pytest.mark.parametrize("answer", [(500, {}, b""), (402, {}, b""), (200, {"content-type": "text/html"}, b"<p>")])
async def test_a_failed_region_search_leaves_no_picture(data_store, looking, answer):
    lens = Lens(answer=answer)
    async with a_service(looking, lens) as (http, _, made, _):
        events = await locate_photo(http, allow_region_search="true")
        assert result_in(events).failure is not None
        assert len(shelf_of(made)) == 0
        for url in lens.urls:
            assert (await http.get(url.replace(PUBLIC_URL, ""))).status_code == 404
    assert [request.method for request in requests_in(events)] == ["OFFER", "POST", "SERVE", "WITHDRAW"]


async def test_a_cancelled_region_search_leaves_no_picture(data_store, looking):
    held, asked = asyncio.Event(), asyncio.Event()

    async def wait():
        asked.set()
        await held.wait()
        return as_json(HITS)

    lens = Lens(answer=wait)
    async with a_service(looking, lens) as (http, running, made, _):
        reply = await http.post(
            "/locate",
            files={"image": PHOTO},
            data={"n_parallel": "1", "depth": "deep", "allow_region_search": "true"},
            headers={"Prefer": "respond-async"},
        )
        path = reply.headers["location"]
        async with asyncio.timeout(20):
            await asked.wait()
        assert len(shelf_of(made)) == 1
        assert (await http.delete(path)).json()["was_running"]
        assert len(shelf_of(made)) == 0
        assert (await http.get(lens.urls[0].replace(PUBLIC_URL, ""))).status_code == 404
        events = [parse_event(line) for line in (await http.get(path + "/events", headers=NDJSON)).text.splitlines()]
        held.set()
        await idle(running)
        assert result_in(await locate_photo(http, allow_region_search="true", seed="5")).ok
    assert [request.method for request in requests_in(events)] == ["OFFER", "POST", "SERVE", "WITHDRAW"]


async def test_google_vision_gets_the_bytes_and_no_url(data_store, looking):
    bodies = []

    def answer(seen):
        bodies.append(json.loads(seen.body))
        return as_json(samples("google_vision")["/v1/images:annotate"]["reply"])

    async with a_service(looking, answer, "google_vision") as (http, _, made, _):
        assert shelf_of(made) is None
        events = await locate_photo(http, allow_region_search="true")
    assert result_in(events).ok
    (asked,) = bodies[0]["requests"]
    assert asked["features"] == [{"type": "WEB_DETECTION", "maxResults": 15}]
    assert set(asked["image"]) == {"content"}
    assert [request.method for request in requests_in(events)] == ["POST"]
    assert requests_in(events)[0].bytes_sent > len(asked["image"]["content"])


async def test_a_store_is_used_in_place_of_the_gateway(data_store, looking, monkeypatch):
    monkeypatch.setenv("GEOTTS_UPLOAD_SECRET", "Bearer of-this-test")
    kept, fetched = {}, []

    def store(seen):
        if seen.headers["authorization"] != "Bearer of-this-test":
            return 403, {}, b""
        if seen.method == "PUT":
            kept[seen.path] = seen.body
        return (201, {}, b"") if seen.method == "PUT" else (200 if kept.pop(seen.path, None) else 404, {}, b"")

    def lens(seen):
        fetched.append(kept["/" + json.loads(seen.body)["url"].rpartition("/")[2]])
        return as_json(HITS)

    async with rude_server(store) as holding:
        upload = StoreUpload(put_url=holding.url + "/{name}", get_url="https://cdn.example/{name}")
        region_search = RegionSearchConfig(allowed=True, upload=upload)
        async with a_service(looking, lens, region_search=region_search) as (http, _, made, _):
            assert shelf_of(made) is None
            events = await locate_photo(http, allow_region_search="true")
    assert result_in(events).ok
    assert fetched[0].startswith(b"\xff\xd8")
    assert kept == {}
    assert [request.method for request in requests_in(events)] == ["PUT", "POST", "DELETE"]


@pytest.mark.parametrize("fails", [False, True])
async def test_pictures_are_sent_blurred_or_not_at_all(data_store, looking, tmp_path, fails):
    (tmp_path / "detector.onnx").write_bytes(detector((0.0, 0.0, 64.0, 64.0), nan_when_white=fails))
    blur = BlurConfig(model=str(tmp_path / "detector.onnx"), min_score=0.5)
    lens = Lens()
    region_search = RegionSearchConfig(allowed=True, blur=blur)
    async with a_service(looking, lens, region_search=region_search) as (http, _, _, server):
        events = await locate_photo(http, allow_region_search="true")
    if fails:
        assert "was not sent" in result_in(events).failure.detail
        assert (server.seen, requests_in(events)) == ([], ())
        return
    sharp = Image.open(io.BytesIO(PHOTO)).convert("L").crop((200, 120, 600, 360))
    seen = Image.open(io.BytesIO(lens.replies[0].content)).convert("L")
    assert seen.size == sharp.size
    spread = [int(np.ptp(np.asarray(picture))) for picture in (sharp, seen)]
    assert spread[1] < spread[0] / 2


@asynccontextmanager
async def at_a_terminal(folder, engine):
    """What runs `geotts` with a configuration of Google Vision and Serper in a process of its own, and the server."""

    def answer(seen):
        return as_json(samples("google_vision")["/v1/images:annotate"]["reply"])

    async with rude_server(answer) as server:
        tools = {
            "providers": ["serper_lens", "google_vision", "offline"],
            "settings": {"google_vision": {"base_url": server.url}},
            "region_search": {"allowed": True},
        }
        config = {"engine": engine.model_dump(), "routing": {"method": "fixed"}, "tools": tools}
        config["gateway"] = {"public_url": PUBLIC_URL}
        (folder / "config.yaml").write_text(json.dumps(config))
        (folder / "photo.jpg").write_bytes(PHOTO)

        async def geotts(line):
            running = await asyncio.create_subprocess_exec(
                sys.executable, "-c", PROGRAM, *line.split(), "--config", "config.yaml", "--json",
                cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            stdout, stderr = await running.communicate()
            assert b"fetch pictures from a running service" in stderr  # nobody can fetch from this process
            return running.returncode, json.loads(stdout)

        yield geotts, server


@pytest.mark.parametrize("consents", [True, False])
async def test_the_command_line_sends_regions_only_with_its_consent_option(data_store, looking, tmp_path, consents):
    flag = " --allow-region-search" if consents else ""
    async with at_a_terminal(tmp_path, looking) as (geotts, server):
        code, reply = await geotts("locate photo.jpg -n 1 --depth deep --include full" + flag)
        assert code == 0
        ((result,),) = [turn["results"] for turn in reply["trajectories"][0]["turns"] if turn["results"]]
        assert (result["failure"] is None) == consents
        assert [seen.path for seen in server.seen] == ["/v1/images:annotate"] * consents
        assert bool(reply["left_machine"]) == consents


@pytest.mark.parametrize("consents", [True, False])
async def test_the_tool_can_be_called_by_hand(data_store, looking, tmp_path, consents):
    flag = " --allow-region-search" if consents else ""
    async with at_a_terminal(tmp_path, looking) as (geotts, server):
        code, result = await geotts("tools call image_search bbox=[0,0,1,0.5] --photo photo.jpg" + flag)
    assert (code == 0, result["failure"] is None, len(server.seen)) == (consents, consents, int(consents))


async def test_the_client_consents_for_its_caller(data_store, looking):
    lens = Lens()
    async with a_service(looking, lens) as (http, _, _, _), Client(str(http.base_url)) as client:
        refused = [event async for event in client.stream(PHOTO, LocateOptions(n_parallel=1, depth="deep"))]
        asked = LocateOptions(n_parallel=1, depth="deep", allow_region_search=True)
        allowed = [event async for event in client.stream(PHOTO, asked)]
    assert result_in(refused).failure.kind is ToolErrorKind.NOT_ALLOWED
    assert result_in(allowed).ok
    assert len(lens.urls) == 1


async def region_search_of_index(**changes):
    args = an_app().model_copy(update=changes)
    async with serving(args) as (url, _), httpx.AsyncClient(base_url=url) as http:
        return (await http.get("/", headers={"Accept": "application/json"})).json()["region_search"]


async def test_the_index_says_to_whom_regions_may_go_where_consent_can_be_given(data_store, monkeypatch, tmp_path):
    (tmp_path / "faces.onnx").write_bytes(detector((0.0, 0.0, 64.0, 64.0)))
    monkeypatch.setenv("GEOTTS_UPLOAD_SECRET", "Bearer s")
    store = StoreUpload(put_url="https://crops.example/{name}")
    allowed = RegionSearchConfig(allowed=True, upload=store, blur=BlurConfig(model=str(tmp_path / "faces.onnx")))
    tools = ToolsConfig(providers=("serper_lens", "google_vision", "offline"), region_search=allowed)
    assert await region_search_of_index(tools=tools) == {
        "services": [
            {"provider": "serper_lens", "service": "Google Lens", "host": "google.serper.dev"},
            {"provider": "google_vision", "service": "Google Cloud Vision", "host": "vision.googleapis.com"},
        ],
        "store": "crops.example",
        "blurred": True,
    }
    narrow = RequestDefaults(tools=("read_text",))
    assert await region_search_of_index(tools=tools, request_defaults=narrow) is None
    assert await region_search_of_index(tools=ToolsConfig(providers=("google_vision", "offline"))) is None
    assert await region_search_of_index() is None
