"""What HTTP promises everywhere: `HEAD`, `Allow`, and the headers of failures."""

import asyncio
import re
from typing import Any

import httpx
import pytest
from support.service import PHOTO, a_gateway, an_app, serving, talking_to

from deployments.http.app import create_app

PAGE = "https://maps.example"


@pytest.fixture
async def http(data_store):
    async with talking_to(an_app(cors_origins=(PAGE,))) as client:
        yield client


async def locate_photo(http):
    reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})
    return f"/locate/{reply.json()['request_id']}"


def breaking(error, *, started=False):
    """An application one of whose routes raises."""
    gateway, metrics = a_gateway(an_app())
    app = create_app(gateway, an_app(cors_origins=(PAGE,)), metrics=metrics)

    async def broken(scope, receive, send):
        if started:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise error

    app.mount("/broken", broken)
    return app


async def test_an_unforeseen_failure_has_the_headers_of_every_reply(data_store, caplog):
    caplog.set_level("INFO", "geotts.access")
    transport = httpx.ASGITransport(breaking(RuntimeError("secret")), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        reply = await http.get("/broken/x", headers={"Origin": PAGE})
    assert (reply.status_code, reply.headers["content-type"]) == (500, "application/problem+json")
    assert "secret" not in reply.text
    assert reply.headers["x-request-id"].startswith("req_")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["access-control-allow-origin"] == PAGE
    line = next(record for record in caplog.records if record.name == "geotts.access")
    assert (line.status, line.request_id) == (500, reply.headers["x-request-id"])


@pytest.mark.parametrize(("error", "started"), [(RuntimeError(), True), (asyncio.CancelledError(), False)])
async def test_an_error_after_the_start_of_a_reply_or_a_cancellation_sends_no_second_reply(data_store, error, started):
    messages: list[dict[str, Any]] = []
    with pytest.raises(type(error)):
        await exchange(breaking(error, started=started), "GET", "/broken/x", messages)
    assert [message.get("status") for message in messages] == ([200] if started else [])


async def exchange(app, method, path, messages):
    """What an application sends to a server, before any server or client improves it."""

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        messages.append(message)

    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b""}
    about = {"http_version": "1.1", "scheme": "http", "server": ("localhost", 80), "headers": [(b"host", b"localhost")]}
    scope |= about
    await app(scope, receive, send)
    return scope


HEADED = ["/", "/healthz", "/readyz", "/docs", "/web/page.css", "/v1/models", "/openapi.json"]


@pytest.mark.parametrize("path", [*HEADED, "/metrics", "/web/nothing"])
async def test_head_says_what_get_would_without_its_body(data_store, path):
    gateway, metrics = a_gateway(an_app())
    app = create_app(gateway, an_app(), metrics=metrics)
    got: list[dict[str, Any]] = []
    head: list[dict[str, Any]] = []
    await exchange(app, "GET", path, got)
    await exchange(app, "HEAD", path, head)
    assert head[0]["status"] == got[0]["status"]
    assert [name for name, _ in head[0]["headers"]] == [name for name, _ in got[0]["headers"]]
    assert not any(message["body"] for message in head[1:])
    assert head[-1].get("more_body", False) is False


async def test_head_is_answered_for_a_request_and_its_files_but_not_for_its_stream(http):
    where = await locate_photo(http)
    events = (await http.get(f"{where}/events", headers={"Accept": "application/x-ndjson"})).text
    picture = re.search('"sha256": ?"([0-9a-f]{64})"', events)
    assert picture is not None
    for path in (where, f"{where}/map", f"{where}/files/{picture[1]}"):
        got, head = await http.get(path), await http.head(path)
        assert (head.status_code, head.headers["content-type"]) == (got.status_code, got.headers["content-type"])
        assert head.headers["content-length"] == got.headers["content-length"]
    refused = await http.head(f"{where}/events")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET")


async def test_a_server_keeps_the_connection_after_head(data_store):
    async with serving(an_app()) as (url, _), httpx.AsyncClient(base_url=url) as http:
        head, got = await http.head("/web/page.css"), await http.get("/web/page.css")
    assert head.headers["content-length"] == got.headers["content-length"] == str(len(got.content))
    assert "connection" not in head.headers


async def test_the_access_log_records_head_with_its_method_and_route(http, caplog):
    caplog.set_level("INFO", "geotts.access")
    await http.head("/healthz")
    assert [record.getMessage() for record in caplog.records if record.name == "geotts.access"] == ["HEAD /healthz 200"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/locate/loc_" + "0" * 20, "DELETE, GET, HEAD"),
        ("POST", "/healthz", "GET, HEAD"),
        ("PUT", "/locate/loc_" + "0" * 20 + "/events", "GET"),
        ("GET", "/locate", "POST"),
        ("HEAD", "/locate", "POST"),
    ],
)
async def test_a_refused_method_is_replied_with_the_allowed_methods(http, method, path, allowed):
    reply = await http.request(method, path)
    assert (reply.status_code, reply.headers["allow"]) == (405, allowed)


@pytest.mark.parametrize(("origin", "method"), [("https://other.example", "POST"), (PAGE, "PATCH")])
async def test_a_refused_preflight_is_a_problem(http, origin, method):
    asked = {"Origin": origin, "Access-Control-Request-Method": method}
    reply = await http.options("/locate", headers=asked)
    assert (reply.status_code, reply.headers["content-type"]) == (400, "application/problem+json")
    assert reply.json()["type"] == "urn:geotts:problem:cors-refused"
    assert reply.headers["x-request-id"].startswith("req_")
    assert "access-control-request-method" in reply.headers["vary"].lower()
