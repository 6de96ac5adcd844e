"""What goes out to get a photo that came as a URL is on record: every hop, whatever becomes of the request."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from support.rude_server import rude_server
from support.service import PHOTO, an_app, with_tools

from deployments.gateway.runner import Runner
from deployments.observability.audit import AuditLog
from deployments.runstore import MemoryRunStore
from deployments.wiring.local import local_tools
from tts.config import ScriptedEngine

PNG = (200, {"content-type": "image/png"}, PHOTO)


def photos(seen):
    """A photo at /photo, two redirects before it at /moved, one to where nobody may go at /inside, a text at /text."""
    return {
        "/photo": PNG,
        "/moved": (302, {"location": "/on?token=redirect-secret"}, b""),
        "/on": (307, {"location": "/photo"}, b""),
        "/inside": (302, {"location": "http://169.254.169.254/latest/meta-data"}, b""),
        "/down": (302, {"location": "http://127.0.0.1:9/photo"}, b""),
        "/broken": "reset",
        "/text": (200, {"content-type": "image/png"}, b"no picture"),
    }.get(seen.path, "status/404")


class Recorded:
    """An installation with an audit log and an outgoing file, beside a server that has photos."""

    def __init__(self, http, server, folder):
        self.http = http
        self.server = server
        self._folder = folder

    async def locate(self, path, *, headers=None, **fields):
        body = {"image": {"url": self.server.url + path}, "include": "full", "n_parallel": 1, "seed": 1, **fields}
        return await self.http.post("/locate", json=body, headers=headers)

    def audited(self):
        lines = [json.loads(line) for line in (self._folder / "audit.jsonl").read_text().splitlines()]
        return [line for line in lines if line["event"] == "left"]

    def written(self):
        path = self._folder / "out.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines() if line.strip()] if path.exists() else []

    def paths(self, id_):
        """What the file and the audit log have of a request, which is the same."""
        of_it = [line for line in self.written() if line["request_id"] == id_]
        assert [(line["sent_at"], line["host"]) for line in self.audited() if line["request_id"] == id_] == [
            (line["at"], line["host"]) for line in of_it
        ]
        return [line["url"].removeprefix(self.server.url) for line in of_it]


@asynccontextmanager
async def recording(tmp_path, store=None, **gateway):
    async with rude_server(photos) as server:
        args = an_app(ScriptedEngine(turns=1), fetch_hosts=(server.host, "127.0.0.1:9"), **gateway)
        file = {"outgoing_log": str(tmp_path / "out.jsonl")}
        args = args.model_copy(update={"tools": args.tools.model_copy(update=file)})
        audit = AuditLog(tmp_path / "audit.jsonl", args)
        async with with_tools(args, local_tools(args), observers=[audit], store=store) as http:
            yield Recorded(http, server, tmp_path)
        audit.close()


@pytest.fixture
async def service(data_store, tmp_path):
    async with recording(tmp_path) as made:
        yield made


async def test_the_fetch_of_a_photo_by_url_is_recorded_with_its_request(service):
    reply = await service.locate("/photo")
    body = reply.json()
    (request,) = body["left_machine"]["sent"]
    assert (request["host"], request["method"], request["bytes_sent"]) == ("127.0.0.1", "GET", 0)
    assert request["url"] == f"{service.server.url}/photo"
    assert request["request_id"] == body["request_id"] == reply.headers["x-request-id"]
    assert body["left_machine"]["engines"] == []
    assert service.written() == [request]
    assert service.paths(body["request_id"]) == ["/photo"]


async def test_every_redirect_is_recorded_without_its_query(service):
    body = (await service.locate("/moved?signature=caller-secret")).json()
    paths = [one["url"].removeprefix(service.server.url) for one in body["left_machine"]["sent"]]
    assert paths == ["/moved", "/on", "/photo"] == service.paths(body["request_id"])
    assert len(service.server.seen) == 3


@pytest.mark.parametrize(
    ("path", "status", "hops"),
    [
        ("/absent", 422, ["/absent"]),
        ("/inside", 422, ["/inside"]),  # refused before anything went there
        ("/down", 422, ["/down"]),  # nobody took the connection
        ("/broken", 422, ["/broken"]),
        ("/text", 422, ["/text"]),
    ],
)
async def test_a_fetch_that_fails_is_recorded_under_the_id_of_the_refusal(service, path, status, hops):
    reply = await service.locate(path)
    assert 400 <= reply.status_code < 500, reply.text
    assert reply.headers["x-request-id"].startswith("loc_")
    assert service.paths(reply.headers["x-request-id"]) == hops


async def test_a_host_that_is_refused_gets_nothing_and_is_not_recorded(service):
    for url in ("http://127.0.0.1:22/", "http://localhost/photo", "http://[::1]/x"):
        body = {"image": {"url": url}}
        assert (await service.http.post("/locate", json=body)).status_code in (400, 422)
    assert service.written() == service.audited() == []


async def test_the_fetch_of_a_replayed_request_is_recorded_under_the_id_of_the_first(service):
    key = {"Idempotency-Key": "k"}
    first = await service.locate("/photo", headers=key)
    again = await service.locate("/photo", headers=key)
    assert again.headers["idempotency-replayed"] == "true"
    assert first.json()["request_id"] == again.json()["request_id"] == again.headers["x-request-id"]
    assert service.paths(first.json()["request_id"]) == ["/photo", "/photo"]
    assert {line["request_id"] for line in service.written()} == {first.json()["request_id"]}
    other = await service.locate("/photo", headers=key, n_parallel=2)
    assert (other.status_code, other.json()["type"]) == (422, "urn:geotts:problem:idempotency-key-reused")
    assert service.paths(other.headers["x-request-id"]) == ["/photo"]


async def test_the_chat_interface_records_the_fetch_too(service):
    for path in ("/photo", "/absent"):
        part = {"type": "image_url", "image_url": {"url": service.server.url + path}}
        body = {"model": "geotts", "messages": [{"role": "user", "content": [part]}], "geotts": {"n_parallel": 1}}
        reply = await service.http.post("/v1/chat/completions", json=body)
        assert service.paths(reply.headers["x-request-id"]) == [path]


async def test_a_caller_that_goes_away_while_its_photo_is_fetched_leaves_a_record(service):
    held = asyncio.Event()

    async def answer(seen):
        await held.wait()
        return PNG

    service.server.answer = answer
    asking = asyncio.ensure_future(service.locate("/photo"))
    async with asyncio.timeout(20):
        await service.server.arrived.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    held.set()
    assert [line["host"] for line in service.audited()] == ["127.0.0.1"]
    assert len(service.written()) == 1


async def test_erasing_a_request_erases_what_went_out_for_its_photo(service):
    mine, other = (await service.locate("/photo")).json(), (await service.locate("/moved")).json()
    assert (await service.http.delete(f"/locate/{mine['request_id']}?erase=true")).json()["erased"]
    assert {line["request_id"] for line in service.written()} == {other["request_id"]}
    assert {line["request_id"] for line in service.audited()} == {mine["request_id"], other["request_id"]}


async def test_fetches_of_a_lost_gateway_are_reported_when_its_request_is_ended(data_store, tmp_path, monkeypatch):
    async with recording(tmp_path, MemoryRunStore(3600), lease_s=0.05) as service:
        monkeypatch.setattr(Runner, "launch", lambda *lost, **how: None)
        reply = await service.locate("/moved", headers={"Prefer": "respond-async"})
        await asyncio.sleep(0.1)
        await service.http.get(reply.headers["location"])
        assert service.paths(reply.json()["request_id"]) == ["/moved", "/on", "/photo"]


async def test_the_audit_log_has_no_url(service):
    await service.locate("/moved?signature=caller-secret")
    assert service.audited()
    assert not [line for line in service.audited() if {"url", "query"} & set(line)]
    assert "secret" not in json.dumps([service.written(), service.audited()])
