"""Webhooks of ended requests, checked with the library of Standard Webhooks, at a receiver that fails at first."""

import asyncio
import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from support.basics import leftover_tasks
from support.service import PHOTO, an_app, serving

from deployments.config import WebhookConfig
from deployments.gateway.webhooks import WebhookRefused, WebhookSender
from deployments.runstore import MemoryRunStore
from tts.config import ScriptedEngine
from tts.errors import ConfigError

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SLOW = ScriptedEngine(turns=3, tokens_per_turn=20, turn_s=20.0)


@contextmanager
def receiver(codes=()):
    """Its address, and what came: (headers, body). It replies with `codes` in turn, then with 204."""
    came, replies = [], list(codes)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(replies.pop(0) if replies else 204)
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}", came
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv("GEOTTS_WEBHOOK_SECRET", SECRET)


def reporting_to(host, engine=None, pauses=(0.05, 0.05), **gateway):
    return an_app(engine, webhooks=WebhookConfig(hosts=(host,), retry_after_s=pauses), **gateway)


async def wait_for_count(came, count):
    async with asyncio.timeout(20):
        while len(came) < count:  # noqa: ASYNC110  the receiver is a thread
            await asyncio.sleep(0.02)


async def test_an_ended_request_is_reported_signed_and_again_until_it_is_taken(data_store):
    with receiver([500, 302]) as (host, came):
        async with serving(reporting_to(host)) as (url, _), httpx.AsyncClient(base_url=url) as http:
            headers = {"Webhook-Url": f"http://{host}/hook", "Prefer": "respond-async"}
            reply = await http.post("/locate", files={"image": PHOTO}, data={"stop": "none"}, headers=headers)
            assert reply.status_code == 202
            await wait_for_count(came, 3)
        id_ = reply.json()["request_id"]
    payloads = [Webhook(SECRET).verify(body, {k.lower(): v for k, v in headers.items()}) for headers, body in came]
    assert payloads[0]["type"] == "request.ended"
    assert payloads[0]["data"] == {"request_id": id_, "status": "done", "stop_reason": "answered"}
    assert len({headers["webhook-id"] for headers, _ in came}) == 1
    forged = json.dumps({**payloads[0], "data": {}})
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(forged, {k.lower(): v for k, v in came[0][0].items()})


@pytest.mark.slow
async def test_an_undelivered_webhook_is_delivered_by_the_next_gateway_of_the_run_store(data_store, tmp_path):
    kept = {"run_store": f"sqlite:///{tmp_path}/runs.sqlite"}
    with receiver([500]) as (host, came):
        args = reporting_to(host, pauses=(600.0,), **kept)
        async with serving(args) as (url, _), httpx.AsyncClient(base_url=url) as http:
            headers = {"Webhook-Url": f"http://{host}/hook", "Prefer": "respond-async"}
            reply = await http.post("/locate", files={"image": PHOTO}, data={"stop": "none"}, headers=headers)
            await wait_for_count(came, 1)
        async with serving(args) as (_, gateway):
            gateway.start_duties()
            await wait_for_count(came, 2)
        async with serving(args) as (_, gateway):
            gateway.start_duties()
            await asyncio.sleep(2.5)
    first, second = came
    assert first[0]["webhook-id"] == second[0]["webhook-id"]
    payload = Webhook(SECRET).verify(second[1], {k.lower(): v for k, v in second[0].items()})
    assert payload["data"] == {"request_id": reply.json()["request_id"], "status": "done", "stop_reason": "answered"}


async def test_a_cancelled_request_is_reported_and_an_erased_one_is_not(data_store):
    with receiver() as (host, came):
        async with serving(reporting_to(host, SLOW)) as (url, _), httpx.AsyncClient(base_url=url) as http:
            headers = {"Webhook-Url": f"http://{host}/hook", "Prefer": "respond-async"}
            id_ = (await http.post("/locate", files={"image": PHOTO}, headers=headers)).json()["request_id"]
            await http.delete(f"/locate/{id_}")
            await wait_for_count(came, 1)
            assert json.loads(came[0][1])["data"]["status"] == "cancelled"
    with receiver([500] * 9) as (host, came):
        args = reporting_to(host, SLOW, pauses=(0.5,) * 9)
        async with serving(args) as (url, _), httpx.AsyncClient(base_url=url) as http:
            headers = {"Webhook-Url": f"http://{host}/hook", "Prefer": "respond-async"}
            id_ = (await http.post("/locate", files={"image": PHOTO}, headers=headers)).json()["request_id"]
            await http.delete(f"/locate/{id_}")
            await wait_for_count(came, 1)
            await http.delete(f"/locate/{id_}", params={"erase": "true"})
            await asyncio.sleep(0.8)
            assert len(came) == 1
    assert not [name for name in leftover_tasks() if name.startswith("webhook")]


async def test_the_end_of_a_response_in_the_background_is_reported(data_store):
    with receiver() as (host, came):
        image = {"type": "input_image", "image_url": "data:image/jpeg;base64," + base64.b64encode(PHOTO).decode()}
        body = {"model": "geotts-direct", "input": [{"role": "user", "content": [image]}], "background": True}
        async with serving(reporting_to(host)) as (url, _), httpx.AsyncClient(base_url=url) as http:
            refused = await http.post("/v1/responses", json=body, headers={"Webhook-Url": "https://evil.example/"})
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:geotts:problem:webhook-refused")
            made = await http.post("/v1/responses", json=body, headers={"Webhook-Url": f"http://{host}/hook"})
            assert made.status_code == 200
            await wait_for_count(came, 1)
        headers, payload = came[0]
        ended = Webhook(SECRET).verify(payload, {name.lower(): value for name, value in headers.items()})
        assert ended["data"]["status"] == "done"
        assert ended["data"]["request_id"] == "loc_" + made.json()["id"].removeprefix("resp_")


STRANGE = ["https://evil.example/", "http://10.0.0.1/", "https://127.0.0.1:9/", "x", "https://[", "ftp://ok.example/"]


@pytest.mark.parametrize("given", STRANGE)
async def test_a_host_that_is_not_allowed_is_refused_before_anything_else(data_store, given):
    sender = WebhookSender(WebhookConfig(hosts=("ok.example", "127.0.0.1:8080")), MemoryRunStore(60))
    with pytest.raises(WebhookRefused):
        sender.check_url(given)
    assert sender.check_url("https://ok.example/hook") == "https://ok.example/hook"
    assert sender.check_url("http://127.0.0.1:8080/a") == "http://127.0.0.1:8080/a"
    assert sender.check_url(None) == ""


async def test_a_webhook_url_is_refused_by_default(data_store):
    async with serving(an_app()) as (url, _), httpx.AsyncClient(base_url=url) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, headers={"Webhook-Url": "https://a.example/"})
        assert (reply.status_code, reply.json()["type"]) == (422, "urn:geotts:problem:webhook-refused")


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_c2hvcnQ=", "whsec_%%%"])
def test_webhook_hosts_without_a_valid_secret_are_refused_at_the_start(monkeypatch, secret):
    monkeypatch.setenv("GEOTTS_WEBHOOK_SECRET", secret)
    with pytest.raises(ConfigError, match="GEOTTS_WEBHOOK_SECRET"):
        WebhookSender(WebhookConfig(hosts=("a.example",)), MemoryRunStore(60))
