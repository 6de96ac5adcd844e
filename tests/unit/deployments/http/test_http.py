"""The HTTP face in process: the real gateway and pipeline, scripted rollouts, no Ray."""

import asyncio
import base64
import json

import httpx
import pytest
from support.basics import sign_bytes

from deployments.config import AppArgs, GatewayConfig
from deployments.gateway.gateway import Gateway
from deployments.http.app import create_app
from deployments.wiring.local import local_ports
from tts.api.sse_frame import parse_sse
from tts.config import RoutingConfig, ScriptedEngine
from tts.domain.answer import StopReason
from tts.domain.events import parse_event
from tts.domain.trajectory import fold


@pytest.fixture(scope="module")
def args():
    engine = ScriptedEngine(turns=2, tokens_per_turn=8, turn_s=0.05)
    return AppArgs(
        engine=engine,
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(body_timeout_s=1.0, heartbeat_s=0.05),
    )


@pytest.fixture(scope="module")
def the_ports(args, data_store):
    return local_ports(args)


@pytest.fixture
async def gateway(args, the_ports):
    return Gateway(args, the_ports)


@pytest.fixture
async def http(gateway, args):
    transport = httpx.ASGITransport(create_app(gateway, args), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


PHOTO = sign_bytes("Rue de Rivoli")


async def test_a_json_request_gets_a_json_reply(http):
    body = {"image": {"base64": base64.b64encode(PHOTO).decode()}, "n_parallel": 2, "seed": 3}
    reply = await http.post("/locate", json=body)
    assert reply.status_code == 200
    reply_body = reply.json()
    assert reply_body["request_id"] == reply.headers["x-request-id"]
    assert reply_body["answer"]["n"] == {"asked": 2, "planned": 2, "run": 2, "answered": 2, "abstained": 0, "models": 1}
    assert [t["rollout_id"] for t in reply_body["trajectories"]] == [0, 1]
    assert all(t["turns"] == [] for t in reply_body["trajectories"])


@pytest.mark.parametrize(("include", "shape"), [("none", 0), ("full", 2)])
async def test_include_says_how_much_of_the_trajectories_comes(http, include, shape):
    reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "2", "include": include})
    trajectories = reply.json()["trajectories"]
    assert len(trajectories) == shape
    assert all(len(t["turns"]) == 2 for t in trajectories)


async def test_sse_ndjson_and_json_contain_the_same_answer(http):
    fields = {"n_parallel": "2", "seed": "5", "include": "full"}
    events_by_type = {}
    for accept in ("text/event-stream", "application/x-ndjson"):
        async with http.stream(
            "POST", "/locate", files={"image": PHOTO}, data=fields, headers={"Accept": accept}
        ) as reply:
            assert reply.headers["content-type"].startswith(accept)
            lines = reply.aiter_lines()
            if accept == "text/event-stream":
                events_by_type[accept] = [event async for event in parse_sse(lines)]
            else:
                events_by_type[accept] = [parse_event(line) async for line in lines if line]
    sse, ndjson = (fold(events) for events in events_by_type.values())
    answer = (await http.post("/locate", files={"image": PHOTO}, data=fields)).json()["answer"]
    assert (sse.answer.lat, sse.answer.lon) == (ndjson.answer.lat, ndjson.answer.lon) == (answer["lat"], answer["lon"])
    for events in events_by_type.values():
        assert [event.seq for event in events] == list(range(1, len(events) + 1))


@pytest.mark.parametrize(
    ("within", "abstains"),
    [("Italy, Österreich", True), ("fr", False), ("48.85, 2.35, 300", False), ("bbox:36,6,47,19", True), ("", False)],
)
async def test_a_form_may_say_in_words_where_the_answer_must_lie(http, within, abstains):
    data = {"n_parallel": "2", "seed": "5", "within": within, "tools": ""}
    answer = (await http.post("/locate", files={"image": PHOTO}, data=data)).json()["answer"]
    assert answer["abstained"] is abstains


async def test_a_json_body_may_say_in_words_where_the_answer_must_lie(http):
    image = {"base64": base64.b64encode(PHOTO).decode()}
    for within, abstains in (("Italy, FR", False), ("IT", True)):
        reply = await http.post("/locate", json={"image": image, "n_parallel": 1, "within": within})
        assert reply.json()["answer"]["abstained"] is abstains


async def test_geojson_has_the_answer_its_circles_and_candidates(http):
    reply = await http.post("/locate", files={"image": PHOTO}, headers={"Accept": "application/geo+json"})
    assert reply.headers["content-type"] == "application/geo+json"
    features = reply.json()["features"]
    assert [f["properties"]["role"] for f in features] == ["answer", "radius_90", "radius_50", "candidate"]
    assert features[1]["geometry"]["coordinates"][0][0] == features[1]["geometry"]["coordinates"][0][-1]


BAD = [
    ({"n_parallel": "0"}, 422, "n_parallel"),
    ({"n_parallel": "1000000"}, 422, "n_parallel"),
    ({"n_parallel": "two"}, 422, "n_parallel"),
    ({"deadline_s": "nan"}, 422, "deadline_s"),
    ({"target_radius_km": "-1"}, 422, "target_radius_km"),
    ({"depth": "bottomless"}, 422, "depth"),
    ({"dialect": "klingon"}, 422, "dialect"),
    ({"speed": "fast"}, 422, "speed"),
    ({"within": "{"}, 422, "within"),
    ({"within": "Italy, Atlantis"}, 422, "within"),
    ({"within": "95,0,10"}, 422, "within"),
    ({"within": "1,2"}, 422, "within"),
    ({"within": "bbox:1,2,3"}, 422, "within"),
    ({"within": '{"kind": "bbox", "south": 5, "west": 0, "north": 1, "east": 2}'}, 422, "within"),
    ({"hint": "x" * 2001}, 422, "hint"),
    ({"seed": "-1"}, 422, "seed"),
]


@pytest.mark.parametrize(("fields", "status", "named"), BAD, ids=[str(next(iter(b[0].items())))[:40] for b in BAD])
async def test_a_problem_names_the_wrong_field_of_the_form(http, fields, status, named):
    reply = await http.post("/locate", files={"image": PHOTO}, data=fields)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    problem = reply.json()
    assert problem["type"] == "urn:geotts:problem:invalid-request"
    assert named in problem["detail"]
    assert any(named in error["field"] for error in problem["errors"])


@pytest.mark.parametrize(
    ("raw", "status"), [(b"", 422), (b"not a picture", 415), (PHOTO[:5000], 422), (b"\x89PNG\r\n\x1a\n", 415)]
)
async def test_wrong_photos_are_refused_in_words(http, raw, status):
    reply = await http.post("/locate", files={"image": raw})
    assert reply.status_code == status
    assert reply.json()["type"].endswith("invalid-photo")


async def test_wrong_bodies_are_refused_in_words(http):
    async def post(content, kind):
        return await http.post("/locate", content=content, headers={"Content-Type": kind})

    cases = [
        (await post(b"{", "application/json"), 400, "not JSON"),
        (await post(b"[]", "application/json"), 400, "JSON object"),
        (await post(b'{"image": {"base64": "***"}}', "application/json"), 422, "base64"),
        (await post(b'{"image": "x"}', "application/json"), 422, "image"),
        (await post(b"{}", "application/json"), 422, "no photo"),
        (await post(b"abc", "text/plain"), 415, "multipart/form-data"),
        (await post(b"abc", "multipart/form-data"), 400, "multipart"),
        (await post(b"abc", "multipart/form-data; boundary=x"), 400, "multipart"),
        (await http.post("/locate", files={"photo": PHOTO}), 422, "photo"),
        (await http.post("/locate", files=[("image", PHOTO)] * 9), 422, "at most 8"),
        (await http.get("/locate"), 405, ""),
        (await http.get("/nowhere"), 404, ""),
    ]
    for reply, status, words in cases:
        assert reply.status_code == status, reply.text
        assert words in reply.json()["detail"]
    assert (await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})).status_code == 200


async def test_a_field_given_twice_is_refused(http):
    body = (
        b"".join(b'--B\r\nContent-Disposition: form-data; name="seed"\r\n\r\n%d\r\n' % i for i in (1, 2))
        + b'--B\r\nContent-Disposition: form-data; name="image"; filename="a.jpg"\r\n\r\n'
        + PHOTO
        + b"\r\n--B--\r\n"
    )
    reply = await http.post("/locate", content=body, headers={"Content-Type": "multipart/form-data; boundary=B"})
    assert reply.status_code == 422
    assert "twice" in reply.json()["detail"]


async def test_a_slow_body_times_out(http):
    async def dripping():
        for _ in range(100):
            yield b" "
            await asyncio.sleep(0.1)

    reply = await http.post("/locate", content=dripping(), headers={"Content-Type": "application/json"})
    assert reply.status_code == 408


async def test_emoji_and_right_to_left_hints_are_fine(http):
    hint = "near the 🗼? \u200fשלום\u200e \u202eevil"
    reply = await http.post("/locate", files={"image": PHOTO}, data={"hint": hint, "n_parallel": "1"})
    assert reply.status_code == 200


async def test_a_reader_that_disconnects_cancels_the_work(gateway, args):
    id_ = (await gateway.start([PHOTO], _options(n_parallel=4))).request_id
    with gateway.attach_reader(id_, 0):
        async for entry in gateway.follow(id_):
            if entry is not None and entry.kind == "text":
                break
    for _ in range(200):
        if not gateway.in_flight:
            break
        await asyncio.sleep(0.005)
    assert gateway.in_flight == 0
    kinds = [entry.kind async for entry in gateway.follow(id_) if entry is not None]
    assert kinds[-1] == "done"
    assert "answer" not in kinds


async def test_a_grace_time_lets_the_work_finish(gateway):
    id_ = (await gateway.start([PHOTO], _options(n_parallel=1))).request_id
    with gateway.attach_reader(id_, 5.0):
        pass
    run = await gateway.result(id_)
    assert run.answer is not None


@pytest.mark.parametrize("followed", [True, False])
async def test_a_result_is_the_fold_of_the_log(gateway, followed):
    id_ = (await gateway.start([PHOTO], _options(n_parallel=3), followed=followed)).request_id
    result = await gateway.result(id_)
    assert result.answer is not None
    assert result == await gateway.current_run(id_) == await gateway.result(id_)


async def test_the_result_of_a_cancelled_request_states_the_cancellation(gateway):
    id_ = (await gateway.start([PHOTO], _options(n_parallel=3))).request_id
    waiting = asyncio.create_task(gateway.result(id_))
    await asyncio.sleep(0)
    await gateway.cancel(id_)
    result = await waiting
    assert (result.answer, result.stop_reason) == (None, StopReason.CANCELLED)


async def test_requests_above_max_in_flight_get_503_with_retry_after(args, the_ports):
    small = args.model_copy(update={"gateway": args.gateway.model_copy(update={"max_in_flight": 1})})
    gateway = Gateway(small, the_ports)
    transport = httpx.ASGITransport(create_app(gateway, small))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        replies = await asyncio.gather(*(http.post("/locate", files={"image": PHOTO}) for _ in range(4)))
    refused = [reply for reply in replies if reply.status_code == 503]
    assert refused
    assert int(refused[0].headers["retry-after"]) >= 1
    assert any(reply.status_code == 200 for reply in replies)


async def test_a_stream_without_events_has_heartbeats(args, the_ports):
    slow = args.model_copy(update={"engine": ScriptedEngine(turns=1, tokens_per_turn=1, turn_s=0.5)})
    gateway = Gateway(slow, local_ports(slow))
    id_ = (await gateway.start([PHOTO], _options(n_parallel=1))).request_id
    seen = [entry async for entry in gateway.follow(id_)]
    assert seen.count(None) >= 3


async def test_health_readiness_and_schema_are_served(http):
    assert (await http.get("/healthz")).json()["status"] == "ok"
    assert (await http.get("/readyz")).json() == {"status": "ready", "checks": {"store": "ok"}}
    schema = (await http.get("/openapi.json")).json()
    form = schema["paths"]["/locate"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert {"image", "n_parallel", "depth", "seed", "deadline_s", "include"} <= set(form["properties"])
    json.dumps(schema)


def _options(**fields):
    from tts.domain.request import LocateOptions

    return LocateOptions(**fields)
