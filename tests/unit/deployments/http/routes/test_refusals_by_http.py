"""The fifty refusals as a user meets them: `POST /locate` to a service whose endpoint is of the kind that refuses so.

The kind is found out as ever. Both rollouts of a request zoom twice, look two places up in one turn and answer, and the
model verifies them, so that every refusal finds what it refuses.
"""

import json
import re

import httpx
import pytest
from support.chat_servers import BY_NAME, Turn, chunk, listing, streamed_reply, whole_reply
from support.chat_speakers import tool_in
from support.endpoint import Reply, serving
from support.refusal_rows import ROWS
from support.service import a_gateway

from deployments.config import AppArgs
from deployments.http.app import create_app
from deployments.wiring.local import local_ports, local_tools
from tts.config import OpenAIEngine, RoutingConfig, VerifierConfig
from tts.dialects.settings import DialectSettings, SamplingSettings
from tts.domain.plan import Limits
from tts.package_files import SAMPLES

PHOTO = (SAMPLES / "town-sign-latin.jpg").read_bytes()
ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
PLACES = ("Otaru", "Otaru canal")
BOXES = ([0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 0.75, 0.75])
KNOWN_BEFORE = {  # what is never sent to such a server, so that it has nothing to refuse
    "openai max_tokens", "openai extension", "openrouter wraps a provider", "lm studio json",
}  # fmt: skip
UNKNOWN_KIND = {"/v1/models": listing({"id": "m", "owned_by": "somebody", "context_length": 131072})}
LIMITS = Limits(max_turns=8, max_tool_calls=8, max_tokens=60_000)
SAMPLING = SamplingSettings(temperature=0.7, top_p=0.9, top_k=20)


def calls_in(body):
    """What the model calls in this turn, nothing when it answers."""
    search = tool_in({"tool_choice": "auto", **body})
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    if search is None or turn > len(BOXES):
        return []
    if turn < len(BOXES):
        return [("image_zoom", {"bbox": BOXES[turn]})]
    name, argument = search
    return [(name, {argument: place}) for place in PLACES]


def speak(body):
    """A turn of a rollout, or the verifier's opinion."""
    text, calls = json.dumps(body["messages"]), calls_in(body)
    if "Several investigators" in text:
        cited = re.findall(r"\[([A-Z]\d+)\]", text)[:1]
        return reply_with(json.dumps({"reasons": [{"text": "the signs", "evidence": cited}], "choice": "A"}), [], body)
    if calls and not body.get("tools"):
        blocks = [json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls]
        return reply_with("\n".join(f"<tool_call>\n{block}\n</tool_call>" for block in blocks), [], body)
    return reply_with("I look." if calls else f"Kanji on every sign. {ANSWER}", calls, body)


def reply_with(text, calls, body):
    """The steps of a stream, or a whole reply where none was asked for."""
    native = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for i, (name, arguments) in enumerate(calls)
    ]
    if not body.get("stream"):
        reply = whole_reply(Turn(text=text), body)
        reply.body["choices"][0]["message"]["tool_calls"] = native
        return reply
    steps = streamed_reply(Turn(text=text), body)
    pieces = [chunk(tool_calls=[{"index": i, **call}]) for i, call in enumerate(native)]
    return [*steps[:-2], *pieces, *steps[-2:]]


class Refusing:
    """The server of a row: what it refused, and what it served."""

    def __init__(self, row):
        self.row = row
        self.refused = 0
        self.served = 0

    def play(self, body, number):
        if self.row.refused(body):
            self.refused += 1
            reply = self.row.reply
            return Reply(self.row.status, reply.encode() if isinstance(reply, str) else reply)
        self.served += 1
        return speak(body)


@pytest.fixture(scope="module")
def tools(data_store):
    return local_tools(AppArgs())


async def locate_photo(row, tools):
    """What the server of the row saw, and the reply to a photo."""
    server, refusing = BY_NAME.get(row.server), Refusing(row)
    async with serving(refusing.play, UNKNOWN_KIND if server is None else server.pages) as endpoint:
        engine = OpenAIEngine(
            base_url=endpoint.url,
            model="m" if server is None else server.model,
            backoff_s=0.01,
            retries=1,
            extra_body={"stop": ["END"]},
        )
        args = AppArgs(
            engine=engine,
            dialect_settings=DialectSettings(
                alone=SAMPLING, together=SAMPLING, limits=LIMITS, turn_tokens=LIMITS.max_tokens
            ),
            limits=LIMITS,
            routing=RoutingConfig(method="fixed"),
            verifier=VerifierConfig(kind="model"),
        )
        gateway, metrics = a_gateway(args, ports=local_ports(args, tools))
        transport = httpx.ASGITransport(create_app(gateway, args, metrics=metrics), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
            reply = await client.post("/locate", files={"image": PHOTO}, data={"n_parallel": "2", "depth": "deep"})
        await gateway.aclose()
    return refusing, reply


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if not row.error], ids=lambda row: row.name)
async def test_a_request_that_another_form_serves_is_answered(row, tools):
    refusing, reply = await locate_photo(row, tools)
    assert reply.status_code == 200, reply.text
    answer = reply.json()["answer"]
    assert (answer["country"], answer["n"]["answered"]) == ("Japan", 2)
    assert answer["usage"]["tool_calls"] == 2 * (len(BOXES) + len(PLACES))
    assert not [warning for warning in answer["warnings"] if "verifier" in warning]
    assert (refusing.refused == 0) == (row.name in KNOWN_BEFORE)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if row.error], ids=lambda row: row.name)
async def test_a_request_that_nothing_serves_is_an_error_that_names_the_setting(row, tools):
    refusing, reply = await locate_photo(row, tools)
    assert reply.status_code in (502, 503), reply.text
    assert row.error in reply.text
    assert refusing.refused > 0
    assert refusing.served == 0
