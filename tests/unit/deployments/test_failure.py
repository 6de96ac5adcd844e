"""A model that cannot be asked is an error at every door, never "I do not know"."""

import asyncio
import base64
import json
import sys
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx
import openai
import pytest
from support.basics import sign_bytes
from support.endpoint import CUT, Reply, chunk, text_chunks
from support.endpoint import serving as an_endpoint
from support.ports import free_port
from support.service import PHOTO, serving

from deployments.config import AppArgs, GatewayConfig
from deployments.wiring.local import local_ports
from tts.api.client import Client
from tts.api.sse_frame import parse_sse
from tts.api.sync_client import SyncClient
from tts.config import EngineShare, OpenAIEngine, RoutingConfig, VerifierConfig
from tts.domain.events import parse_event
from tts.domain.request import LocateOptions
from tts.domain.trajectory import fold
from tts.errors import RolloutsFailed, UpstreamRefused

ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
UNKNOWN = '{"lat": null, "lon": null, "level": "none"}'
FORM = {"n_parallel": "2", "depth": "deep"}


def refuse_with(status, message, **headers):
    return lambda body, number: Reply(status, {"error": {"message": message}}, headers)


def reset_connection(body, number):
    raise ConnectionResetError


def cut_reply(body, number):
    return [chunk("I almost kn"), CUT]


def stay_silent(body, number):
    return [60.0]


# what the endpoint does → status of the problem, what it names, what it says to do
FAILING_ENDPOINTS = {
    "401": (refuse_with(401, "no such key"), 502, ("answered 401: no such key",), "$OPENAI_API_KEY"),
    "404": (refuse_with(404, "The model `m` does not exist."), 502, ("answered 404: The model `m`",), "--model"),
    "429": (
        refuse_with(429, "slow down", **{"Retry-After": "0"}),
        503,
        ("answered 429: slow down",),
        "try again later",
    ),
    "500": (refuse_with(500, "out of memory"), 503, ("answered 500: out of memory",), "log of the endpoint"),
    "reset": (reset_connection, 503, ("connection to the endpoint failed",), "log of the endpoint"),
    "dying": (cut_reply, 503, ("endpoint",), "log of the endpoint"),
}


def a_configuration(base_url, **engine):
    config = {"model": "m", "backoff_s": 0.001, "retries": 1, **engine}
    return AppArgs(
        engine=OpenAIEngine(base_url=base_url, **config),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(heartbeat_s=5.0),
    )


def dead_port():
    return f"http://127.0.0.1:{free_port()}/v1"


@asynccontextmanager
async def a_service(base_url, **engine):
    args = a_configuration(base_url, **engine)
    async with serving(args, ports=local_ports(args)) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as http:
        yield http


async def locate_photo(http, accept="application/json", headers=(), **form):
    return await http.post(
        "/locate", files={"image": PHOTO}, data={**FORM, **form}, headers={"Accept": accept, **dict(headers)}
    )


@pytest.mark.parametrize("name", FAILING_ENDPOINTS)
async def test_every_form_of_reply_names_what_failed(data_store, name):
    play, status, named, mend = FAILING_ENDPOINTS[name]
    async with an_endpoint(play) as endpoint, a_service(endpoint.url) as http:
        reply = await locate_photo(http)
        assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json")
        problem = reply.json()
        check_problem(problem, endpoint.url, named, mend)
        assert ("retry-after" in reply.headers) == (status == 503)
        for accept in ("text/event-stream", "application/x-ndjson"):
            streamed = await locate_photo(http, accept)
            assert streamed.status_code == 200
            events = await events_of(streamed)
            assert [event.type for event in events][-3:] == ["error", "left_machine", "done"]
            run = fold(events)
            assert (run.answer, run.failure.status, run.stop_reason) == (None, status, "failed")
            assert run.failure.detail == problem["detail"]
        asked = (await http.get(f"/locate/{run.accepted.request_id}")).json()
        assert (asked["status"], asked["problem"]["status"], asked["answer"]) == ("failed", status, None)


def check_problem(problem, endpoint, named, mend):
    for words in (endpoint, *named, mend, "nothing is known about the photo"):
        assert words in problem["detail"]
    (cause,) = problem["causes"]
    assert (cause["endpoint"], cause["rollouts"]) == (endpoint, 2)
    assert mend in cause["mend"]


async def events_of(reply):
    if "event-stream" in reply.headers["content-type"]:
        return [event async for event in parse_sse(reply.aiter_lines())]
    return [parse_event(line) for line in reply.text.splitlines() if line]


async def test_a_dead_port_is_a_failure_that_names_the_endpoint(data_store):
    url = dead_port()
    async with a_service(url) as http:
        reply = await locate_photo(http)
    assert reply.status_code == 503
    check_problem(reply.json(), url, ("ConnectError",), "start the endpoint")


async def test_silence_until_the_deadline_is_a_failure_of_the_endpoint(data_store):
    at_once = {"prefix_cache": False}  # else the second rollout waits for a token of the first until the time is up
    async with an_endpoint(stay_silent) as endpoint, a_service(endpoint.url, **at_once) as http:
        reply = await locate_photo(http, deadline_s="3")
    assert reply.status_code == 503
    check_problem(reply.json(), endpoint.url, ("had sent nothing when the time was up",), "deadline_s")


async def test_a_model_that_thinks_until_the_deadline_is_answered_with_an_abstention(data_store):
    def thinking(body, number):
        return [chunk("Hm. "), *[0.05, chunk("Hm. ")] * 200]

    async with an_endpoint(thinking) as endpoint, a_service(endpoint.url) as http:
        reply = await locate_photo(http, deadline_s="1")
    answer = reply.json()["answer"]
    assert (reply.status_code, answer["abstained"], answer["stop_reason"]) == (200, True, "deadline")


async def test_a_model_that_does_not_know_gives_an_abstention_and_no_failure(data_store):
    async with an_endpoint(lambda body, number: text_chunks(UNKNOWN)) as endpoint, a_service(endpoint.url) as http:
        reply = await locate_photo(http)
    assert (reply.status_code, reply.json()["answer"]["abstained"]) == (200, True)


@pytest.mark.parametrize("prose", ["I do not know.", "Sorry, I'm unable to determine where this photo was taken."])
async def test_a_model_that_does_not_know_in_prose_gives_an_abstention_too(data_store, prose):
    async with an_endpoint(lambda body, number: text_chunks(prose)) as endpoint, a_service(endpoint.url) as http:
        reply = await locate_photo(http)
    answer = reply.json()["answer"]
    assert (reply.status_code, answer["abstained"], answer["n"]["answered"]) == (200, True, 2)


async def test_rollouts_whose_turns_cannot_be_used_are_a_failure(data_store):
    async with (
        an_endpoint(lambda body, number: text_chunks("Lovely weather!")) as endpoint,
        a_service(endpoint.url) as http,
    ):
        reply = await locate_photo(http)
    assert reply.status_code == 503
    assert "turns could not be used" in reply.json()["detail"]
    assert "--profile" in reply.json()["causes"][0]["mend"]


async def test_the_answer_says_how_many_failed_and_why(data_store):
    def one_of_two(body, number):
        return text_chunks(ANSWER) if number == 0 else Reply(400, {"error": {"message": "too many pictures"}})

    async with an_endpoint(one_of_two) as endpoint, a_service(endpoint.url) as http:
        answer = (await locate_photo(http)).json()["answer"]
    assert not answer["abstained"]
    assert answer["n"]["answered"] == 1
    (warning,) = (words for words in answer["warnings"] if "failed" in words)
    assert warning == f"1 of 2 rollouts failed: {endpoint.url}: the endpoint answered 400: too many pictures"


async def test_the_words_of_an_endpoint_are_bounded_and_hold_no_key(data_store, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-service-0123456789")
    play = refuse_with(401, "sk-secret-of-the-service-0123456789 is wrong" + "\x1b[2J<b>" + "x" * 5000)
    async with an_endpoint(play) as endpoint, a_service(endpoint.url) as http:
        reply = await locate_photo(http)
    assert "sk-secret" not in reply.text
    assert "\\u001b" not in reply.text
    assert len(reply.json()["detail"]) < 700


async def test_a_failure_may_be_tried_again_under_its_key(data_store):
    well = asyncio.Event()

    def recovering(body, number):
        return text_chunks(ANSWER) if well.is_set() else Reply(500, {"error": "down"})

    async with an_endpoint(recovering) as endpoint, a_service(endpoint.url) as http:
        key = {"Idempotency-Key": "once"}
        assert (await locate_photo(http, headers=key)).status_code == 503
        well.set()
        assert (await locate_photo(http, headers=key)).json()["answer"]["abstained"] is False


async def test_the_openai_face_reports_the_error_of_the_endpoint(data_store):
    picture = "data:image/jpeg;base64," + base64.b64encode(PHOTO).decode()
    messages = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": picture}}]}]
    async with (
        an_endpoint(refuse_with(401, "no such key")) as endpoint,
        a_service(endpoint.url) as http,
        openai.AsyncOpenAI(base_url=f"{http.base_url}/v1", api_key="any", max_retries=0, timeout=60.0) as client,
    ):
        with pytest.raises(openai.APIStatusError) as whole:
            await client.chat.completions.create(model="geotts", messages=messages)
        assert (whole.value.status_code, whole.value.code) == (502, "upstream-refused")
        assert "answered 401: no such key" in whole.value.message
        stream = await client.chat.completions.create(model="geotts", messages=messages, stream=True)
        with pytest.raises(openai.APIError, match="answered 401: no such key"):
            [chunk async for chunk in stream]


async def test_the_client_raises_an_error_that_names_the_cause(data_store):
    options = LocateOptions(n_parallel=2, depth="deep")
    async with an_endpoint(refuse_with(404, "no model m")) as endpoint, a_service(endpoint.url) as http:
        async with Client(str(http.base_url)) as client:
            with pytest.raises(UpstreamRefused, match="no model m") as raised:
                await client.locate(PHOTO, options)
        assert (raised.value.status, raised.value.fields["causes"][0].http_status) == (502, 404)
    async with a_service(dead_port()) as http:
        with pytest.raises(RolloutsFailed, match="ConnectError"):
            await asyncio.to_thread(_blocking, str(http.base_url), options)


def _blocking(url, options):
    with SyncClient(url) as client:
        return client.locate(PHOTO, options)


SETTINGS = (
    "--set", "engine.retries=1", "--set", "engine.backoff_s=0.001", "--set", "routing.method=fixed", "--model", "m",
)  # fmt: skip


async def geotts(*arguments):
    program = "import sys; from deployments.cli import main; sys.argv[0] = 'geotts'; main()"
    ran = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        program,
        *map(str, arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await ran.communicate()
    return ran.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("name", ["dead", "401"])
@pytest.mark.slow
async def test_geotts_locate_ends_with_1_and_names_the_failed_endpoint(data_store, tmp_path, name):
    photo = tmp_path / "p.jpg"
    photo.write_bytes(PHOTO)
    play, status, named, mend = FAILING_ENDPOINTS.get(
        name, (reset_connection, 503, ("ConnectError",), "start the endpoint")
    )
    async with an_endpoint(play) as endpoint:
        url = dead_port() if name == "dead" else endpoint.url
        code, out, err = await geotts("locate", photo, "-n", "2", "--json", "--endpoint", url, *SETTINGS)
    assert code == 1
    for words in (url, *named, mend):
        assert words in err
    error = json.loads(out)["error"]
    assert (error["status"], error["causes"][0]["endpoint"]) == (status, url)


@pytest.mark.slow
async def test_geotts_locate_says_of_every_attempt_why_it_failed(data_store, tmp_path):
    photo, url = tmp_path / "p.jpg", dead_port()
    photo.write_bytes(PHOTO)
    code, _, err = await geotts("locate", photo, "-n", "2", "--depth", "deep", "--endpoint", url, *SETTINGS)
    failed = f"failed: {url}: the connection to the endpoint failed: ConnectError"
    assert code == 1
    assert sorted(line.strip() for line in err.splitlines() if "] failed" in line) == [f"[0] {failed}", f"[1] {failed}"]


@pytest.mark.slow
async def test_geotts_eval_run_counts_a_failure_and_no_abstention(data_store, tmp_path):
    (tmp_path / "a.jpg").write_bytes(sign_bytes("Wilhelmsburg"))
    label = {"file": "a.jpg", "lat": 53.5, "lon": 10.0, "country": "Germany"}
    (tmp_path / "labels.jsonl").write_text(json.dumps(label))
    run_file = tmp_path / "r.jsonl"
    url = dead_port()
    command = ("eval", "run", "folder", tmp_path, "--n", "2", "--out", run_file, "--endpoint", url, *SETTINGS)
    code, _, err = await geotts(*command)
    record = json.loads(run_file.read_text())
    assert "ConnectError" in record["failure"]
    assert record["answer"] is None
    assert code == 1
    assert "1 of 1 photos failed" in err
    assert "--retry-failed" in err
    _, out, _ = await geotts("eval", "report", run_file, "--json")
    figures = json.loads(out)["whole"]
    assert (figures["n"], figures["failures"], figures["abstained"]) == (0, 1, 0)


async def test_readiness_reports_a_dead_endpoint_until_it_answers(data_store, monkeypatch, caplog):
    monkeypatch.setattr("deployments.endpoints.watch.EVERY_S", 0.05)
    url = dead_port()
    async with a_service(url) as http:
        down = await http.get("/readyz")
        assert (down.status_code, down.headers["content-type"]) == (503, "application/problem+json")
        assert down.json()["checks"] == {"store": "ok", "engine": f"{url} does not answer: ConnectError"}
        assert f"engine: {url} does not answer: ConnectError; meanwhile every rollout fails" in caplog.text
        async with an_endpoint(reset_connection, port=urlsplit(url).port), asyncio.timeout(10):
            while (await http.get("/readyz")).status_code != 200:  # noqa: ASYNC110  it is asked over HTTP
                await asyncio.sleep(0.05)
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "watch endpoints"]


async def test_the_service_stays_ready_if_only_the_engine_of_the_verifier_is_down(data_store, caplog):
    url = dead_port()
    embedded = a_configuration(url)
    verifier = VerifierConfig(kind="model", engine=embedded.engine)
    args = AppArgs(routing=RoutingConfig(method="fixed"), verifier=verifier)
    async with serving(args, ports=local_ports(args)) as (at, _), httpx.AsyncClient(base_url=at) as http:
        ready = await http.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    assert "ConnectError" in ready.json()["checks"]["verifier engine"]
    expected = f"verifier engine: {url} does not answer: ConnectError; meanwhile the consensus decides alone"
    assert expected in caplog.text
    assert "rollout fails" not in caplog.text


async def test_log_and_doctor_say_the_same_of_one_of_several_dead_endpoints(data_store, caplog):
    url = dead_port()
    async with an_endpoint(lambda body, number: text_chunks(ANSWER), {"/v1/models": {"data": [{"id": "m"}]}}) as alive:
        async with a_service(alive.url, base_urls=(url,)) as http:
            assert (await http.get("/readyz")).status_code == 200
        code, out, _ = await geotts("doctor", "--json", "--endpoint", f"{alive.url},{url}")
    (found,) = (one for one in json.loads(out) if one["what"] == "endpoint of engine 2")
    assert (code, found["state"]) == (1, "problem")
    assert found["cost"] == "the other endpoints do its work, and if none of them answers, every rollout fails"
    assert f"engine 2: {url} does not answer: ConnectError; meanwhile {found['cost']}" in caplog.text


async def test_the_service_is_not_ready_if_its_endpoint_refuses_the_key(data_store):
    pages = {"/v1/models": Reply(401, {"error": "no key"})}
    async with an_endpoint(reset_connection, pages) as endpoint, a_service(endpoint.url) as http:
        reply = await http.get("/readyz")
    assert reply.status_code == 503
    assert reply.json()["checks"]["engine"] == f"{endpoint.url} answered 401: the key is taken from $OPENAI_API_KEY"


ROLES = {
    "observer": ("every rollout fails", "observer.base_url", "observer={}"),
    "verifier engine": (
        "the consensus decides alone",
        "verifier.engine.base_url",
        "verifier={{kind: model, engine: {}}}",
    ),
    "consistency engine": (
        "confidence is not checked against the reasoning",
        "verifier.consistency.engine.base_url",
        "verifier={{consistency: {{engine: {}}}}}",
    ),
}


@pytest.mark.parametrize("role", ROLES)
async def test_the_doctor_asks_every_endpoint_and_says_what_it_costs_and_where_it_is_named(data_store, role):
    url = dead_port()
    cost, setting, configured = ROLES[role]
    code, out, _ = await geotts("doctor", "--json", "--set", configured.format(f"{{name: openai, base_url: '{url}'}}"))
    (found,) = (one for one in json.loads(out) if one["what"] == f"endpoint of {role}")
    assert (code, found["state"], found["detail"], found["cost"]) == (1, "problem", f"{url}: ConnectError", cost)
    assert found["mend"] == f"start it, or name another with {setting}"


async def test_a_dead_observer_is_named_with_its_own_setting(data_store):
    url = dead_port()
    async with an_endpoint(lambda body, number: text_chunks(ANSWER)) as endpoint:
        args = a_configuration(endpoint.url, sees_pictures=False)
        args = args.model_copy(update={"observer": a_configuration(url).engine})
        async with (
            serving(args, ports=local_ports(args)) as (at, _),
            httpx.AsyncClient(base_url=at, timeout=60) as http,
        ):
            reply = await locate_photo(http)
    assert reply.status_code == 503
    check_problem(reply.json(), url, ("the observer: the connection to the endpoint failed",), "(observer.base_url)")
    assert "--endpoint" not in reply.json()["detail"]
    assert endpoint.bodies == []


REFUSED = {"error": {"message": "The model `m` does not exist."}}


@pytest.mark.parametrize(
    ("play", "mend"),
    [
        (None, "start the endpoint, or name another one (its base_url in engines)"),
        (Reply(404, REFUSED), "name a model that the endpoint lists with its model in engines"),
        (
            Reply(405, {"error": "no"}),
            "compare its server in engines, its tools in engines and its extra_body in engines",
        ),
        (Reply(402, {"error": "no"}), "top it up, or name another endpoint with its base_url in engines"),
    ],
    ids=["dead", "404", "405", "402"],
)
async def test_members_of_a_mixture_are_named_with_their_own_settings(data_store, play, mend):
    async with an_endpoint(lambda body, number: play) as first, an_endpoint(lambda body, number: play) as second:
        urls = (dead_port(), dead_port()) if play is None else (first.url, second.url)
        members = [EngineShare(name=f"n{i}", engine=a_configuration(url).engine) for i, url in enumerate(urls)]
        base = a_configuration(urls[0]).model_dump(exclude={"engine"})
        args = AppArgs.model_validate({**base, "engines": members})
        async with (
            serving(args, ports=local_ports(args)) as (at, _),
            httpx.AsyncClient(base_url=at, timeout=60) as http,
        ):
            detail = (await locate_photo(http)).json()["detail"]
    assert mend in detail
    assert not [setting for setting in ("engine.", "--endpoint", "--model") if setting in detail], detail


async def test_the_error_for_a_mixture_endpoint_with_several_models_names_the_setting(data_store):
    pages = {"/v1/models": {"data": [{"id": "a"}, {"id": "b"}]}}
    async with an_endpoint(reset_connection, pages) as endpoint:
        engine = a_configuration(endpoint.url, model="").engine
        members = [EngineShare(name=name, engine=engine) for name in ("west", "east")]
        args = AppArgs(engines=members, routing=RoutingConfig(method="fixed"))
        async with (
            serving(args, ports=local_ports(args)) as (at, _),
            httpx.AsyncClient(base_url=at, timeout=60) as http,
        ):
            detail = (await locate_photo(http)).json()["detail"]
    assert "the endpoint lists 2 models: name one with its model in engines (a, b)" in detail
