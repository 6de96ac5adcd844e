"""Whole conversations with a scripted endpoint: its last request holds what the corpus says, message by message."""

import base64
import io
import json
import os
from pathlib import Path
from urllib.parse import unquote_plus

import httpx
import pytest
from endpoint import saying
from endpoint import serving as an_endpoint
from PIL import Image
from support import a_context

from deployments.conformance.corpus import Corpus
from deployments.conformance.geovista import subject as geovista
from deployments.conformance.geovista.turns import _PAGES
from deployments.conformance.played_rollout import made_photo
from deployments.conformance.played_tools import played_toolbox
from deployments.conformance.played_transport import PlayedTransport
from deployments.conformance.reverse import played as reverse_played
from deployments.conformance.reverse import subject as reverse
from deployments.conformance.reverse.services import MadeUpLens, MadeUpPages
from deployments.conformance.thinking_with_map import subject as thinking_with_map
from tools.released.catalog import released_local_tools
from tts.config import OpenAIEngine
from tts.domain.plan import Limits
from tts.inference.openai_client import OpenAIModel
from tts.ports import GroupRequest, RolloutTask
from tts.rollout.agent import Agent
from tts.rollout.loop import run_rollout
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.store import MemoryStore
from tts.toolkit.toolbox import JoinedToolbox, LocalToolbox

FOLDER = Path(os.environ.get("GEOTTS_RELEASED", "../shared/data/released"))
needs_corpus = pytest.mark.skipif(not FOLDER.is_dir(), reason="the corpus of released behaviour is not here")
ANSWER = '{"lat": 30.25, "lon": 120.15, "city": "Hangzhou", "country": "China"}'


class ByQuery(PlayedTransport):
    """Each reply belongs to the query of its row."""

    def __init__(self, rows):
        super().__init__({})
        self._replies = {row["arguments"]["query"]: row["provider"] for row in rows if "provider" in row}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        asked = unquote_plus(str(request.url))
        self._provider = next(reply for query, reply in self._replies.items() if f"={query}&" in f"{asked}&")
        return await super().handle_async_request(request)


async def conversation(dialect, system, transport, photo, outputs):
    """Run until the model's last output, with the tools of a system; what the endpoint was asked."""
    async with played_toolbox(system, transport) as toolbox:
        return await played_against(dialect, toolbox, photo, outputs)


async def played_against(dialect, toolbox, photo, outputs):
    """Run over HTTP until the model's last output; the requests of the endpoint, and how the rollout ended."""

    def play(body, number):
        said = sum(message["role"] == "assistant" for message in body["messages"])
        steps = saying("")
        return [steps[0], {**steps[0], "choices": [{"index": 0, "delta": {"content": outputs[said]}}]}, *steps[2:]]

    async with an_endpoint(play) as endpoint:
        model = OpenAIModel(
            OpenAIEngine(base_url=endpoint.url, model="m", tools="template", server="vllm", pictures="inline")
        )
        limits = Limits(max_turns=64, max_tool_calls=256, max_tokens=2**20)
        group = GroupRequest(a_context(), (photo,), (), 1, limits, dialect.name)
        items = [item async for item in run_rollout(Agent(model, dialect, toolbox), group, RolloutTask(0, 0))]
        await model.aclose()
    return endpoint.bodies, items[-1]


def sizes(content):
    """Pictures of a message by their size, texts joined where they stand together."""
    made = []
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if part["type"] == "text":
            text = part["text"]
            made = [*made[:-1], made[-1] + text] if made and isinstance(made[-1], str) else [*made, text]
        else:
            data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            made.append(Image.open(io.BytesIO(data)).size)
    return made


@needs_corpus
async def test_eight_turns_with_thinking_with_map():
    corpus = Corpus(FOLDER)
    rows = [
        row
        for row in corpus.rows("thinking_with_map", "tools")
        if row["path"] == "verl"
        and row["tool"].startswith(("amap_keyword", "amap_poi", "image_zoom"))
        and row.get("provider", {"status": 200}).get("status") == 200
        and "reward" in row["returned"]
    ]
    by_query = {
        json.dumps(row["arguments"], ensure_ascii=False): row for row in rows if len(row["returned"]["text"]) < 700
    }
    chosen = [*list(by_query.values())[:3], *list(by_query.values())[-4:]]
    calls = [{"name": row["tool"], "arguments": row["arguments"]} for row in chosen]
    outputs = [f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>" for call in calls] + [ANSWER]
    dialect = thinking_with_map.dialect_for("verl", "amap", corpus)
    bodies, end = await conversation(dialect, "thinking_with_map", ByQuery(chosen), made_photo(1008, 756), outputs)
    assert len(bodies) == 8
    assert end.answer is not None
    texts = corpus.texts("thinking_with_map")["single_run"]
    wanted = [[texts["system"]["text"]], [(1008, 756), texts["user"]["text"].removeprefix("<image>")]]
    for output, row in zip(outputs, chosen, strict=False):
        shown = [(image["width"], image["height"]) for image in row["returned"]["images"]]
        text = row["returned"]["text"]
        answer = f"<tool_response>\n{text}\n</tool_response>"
        wanted += [[output], ["<tool_response>\n", *shown, f"{text}\n</tool_response>"] if shown else [answer]]
    assert [sizes(message["content"]) for message in bodies[-1]["messages"]] == wanted
    listed = [tool["function"] for tool in bodies[-1]["tools"]]
    assert listed == [tool["function"] for tool in texts["tools_amap"]["schemas"]]


@needs_corpus
async def test_whole_runs_of_geovista():
    corpus = Corpus(FOLDER)
    runs = [row for row in corpus.rows("geovista", "turns") if isinstance(row["assistant"], list)]
    assert runs
    for row in runs:
        transport = PlayedTransport(geovista.as_tavily({"status": 200, "reply": _PAGES}))
        bodies, _ = await conversation(
            geovista.dialect_for(corpus), "geovista", transport, made_photo(1008, 756), row["assistant"]
        )
        assert len(bodies) == row["requests"]
        made = [sizes(message["content"]) for message in bodies[-1]["messages"]]
        wanted = [_wanted(message["content"]) for message in row["last_request"]]
        wanted[0] = [corpus.texts("geovista")["system"]["text"]]
        assert made == wanted


@needs_corpus
async def test_a_whole_run_of_reverse():
    corpus = Corpus(FOLDER)
    row = next(row for row in corpus.rows("reverse", "turns") if row["id"] == "reverse/eval/conversation/3")
    assert len(row["assistant"]) == 11
    behind = reverse_played.eval_tools(MadeUpPages(None, corpus), MadeUpLens(None, corpus))
    broker = Broker(behind, MemoryStore())
    toolbox = JoinedToolbox(LocalToolbox(released_local_tools("reverse")), broker)
    photo = made_photo(*reverse.PHOTO)
    bodies, end = await played_against(reverse.dialect_for("eval", corpus), toolbox, photo, row["assistant"])
    await broker.aclose()
    assert len(bodies) == row["requests"]
    for number, body in enumerate(bodies):  # a thought and its reminder more in each request
        shown = row["last_request"][: 2 + 2 * number]
        assert [message["role"] for message in body["messages"]] == [message["role"] for message in shown]
        assert [sizes(message["content"]) for message in body["messages"]] == [_wanted(m["content"]) for m in shown]
        assert body["stop"] == row["stop_words"]
        assert sorted(tool["function"]["name"] for tool in body["tools"]) == sorted(row["tools_sent"])
    assert len(bodies[-1]["messages"]) == len(row["last_request"])
    assert end.answer is None
    assert row["prediction"] is None


def _wanted(content):
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    joined = []
    for part in parts:
        if part["type"] == "text":
            joined = [*joined[:-1], joined[-1] + part["text"]] if joined and isinstance(joined[-1], str) else [
                *joined, part["text"]]  # fmt: skip
        else:
            width, height = part["image"].removeprefix("<jpeg ").rstrip(">").split("x")
            joined.append((int(width), int(height)))
    return joined
