"""Whole conversations with a scripted endpoint: its last request holds what the corpus says, message by message."""

import base64
import io
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import httpx
import pytest
from PIL import Image
from support.basics import a_context
from support.endpoint import serving as an_endpoint
from support.endpoint import text_chunks

from geotts_benchmarks.released_rows.corpus import Corpus
from geotts_benchmarks.released_rows.geovista import subject as geovista
from geotts_benchmarks.released_rows.geovista.turns import _PAGES
from geotts_benchmarks.released_rows.played_rollout import made_photo
from geotts_benchmarks.released_rows.played_tools import played_toolbox
from geotts_benchmarks.released_rows.played_transport import PlayedTransport
from geotts_benchmarks.released_rows.reverse import played_conversation as reverse_played
from geotts_benchmarks.released_rows.reverse import subject as reverse
from geotts_benchmarks.released_rows.reverse.services import MadeUpLens, MadeUpPages
from geotts_benchmarks.released_rows.thinking_with_map import subject as thinking_with_map
from geotts_benchmarks.single_rollout import run_rollout
from tools.released.catalog import released_local_tools
from tts.config import OpenAIEngine
from tts.dialects import DIALECTS
from tts.dialects.released.imported_texts import ImportedTexts
from tts.dialects.settings import DialectSettings
from tts.domain.plan import Limits
from tts.inference.openai.engine import OpenAIModel
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.rewards.released.geoagent_answer import Names, names_in
from tts.rollout.agent import Agent
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore
from tts.toolkit.toolbox import JoinedToolbox, LocalToolbox

FOLDER = Path(os.environ.get("GEOTTS_RELEASED", "../shared/data/released"))
needs_corpus = pytest.mark.skipif(not FOLDER.is_dir(), reason="the corpus of released behaviour is not here")
NOWHERE = {"reply": {"results": [], "status": {"code": 200, "message": "OK"}, "total_results": 0}}
ANSWER = '{"lat": 30.25, "lon": 120.15, "city": "Hangzhou", "country": "China"}'


class ByQuery(PlayedTransport):
    """Each reply belongs to what its row asks for: a query, keywords or an id."""

    def __init__(self, rows):
        super().__init__({})
        self._replies = {next(iter(row["arguments"].values())): row["provider"] for row in rows if row.get("provider")}

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
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        steps = text_chunks("")
        return [steps[0], {**steps[0], "choices": [{"index": 0, "delta": {"content": outputs[turn]}}]}, *steps[2:]]

    async with an_endpoint(play) as endpoint:
        model = OpenAIModel(
            OpenAIEngine(base_url=endpoint.url, model="m", tools="template", server="vllm", pictures="inline")
        )
        limits = Limits(max_turns=64, max_tool_calls=256, max_tokens=2**20)
        group = GroupRequest(a_context(), (photo,), (), 1, limits)
        items = [item async for item in run_rollout(Agent(model, dialect, toolbox), group, RolloutTask(0, 0))]
        await model.aclose()
    return endpoint.bodies, items[-1]


def sizes(content):
    """Pictures of a message by their size, texts joined where they stand together."""
    made: list[str | tuple[int, int]] = []
    parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for part in parts:
        if part["type"] == "text":
            text = part["text"]
            made = [*made[:-1], made[-1] + text] if made and isinstance(made[-1], str) else [*made, text]
        else:
            data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            made.append(Image.open(io.BytesIO(data)).size)
    return made


@needs_corpus
async def test_eight_turns_of_thinking_with_map_send_the_released_messages():
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
async def test_eight_turns_of_the_notebook_send_the_released_messages():
    """As the notebook writes them: tools in the system text, a picture or a text between the tags of its response."""
    corpus = Corpus(FOLDER)
    rows = {row["id"].removeprefix("thinking_with_map/demo/"): row for row in corpus.rows("thinking_with_map", "tools")}
    names = ["amap_input_tips/1", "amap_input_tips/2", "image_zoom_in_tool/1", "amap_keyword_search/1",
             "amap_keyword_search/2", "amap_poi_detail/1", "amap_poi_detail/2"]  # fmt: skip
    chosen = [rows[name] for name in names if name in rows]
    calls = [{"name": row["tool"], "arguments": row["arguments"]} for row in chosen]
    outputs = [f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>" for call in calls] + [ANSWER]
    dialect = thinking_with_map.dialect_for("demo", "amap", corpus)
    photo = made_photo(*thinking_with_map.PHOTO["demo"])
    bodies, end = await conversation(dialect, "thinking_with_map_demo", ByQuery(chosen), photo, outputs)
    assert len(bodies) == len(outputs) == 8
    assert end.answer is not None
    texts = corpus.texts("thinking_with_map")["demo"]
    listed = [{"type": "function", "function": schema} for schema in texts["tools"]["schemas"][:6]]  # as its note says
    lines = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in listed)
    tool_text = texts["tool_template"]["text"].format(tool_descs=lines)
    wanted = [[f"{texts['system']['text']}\n\n{tool_text}"], [(photo.width, photo.height), texts["user"]["text"]]]
    for output, row in zip(outputs, chosen, strict=False):
        shown = [(image["width"], image["height"]) for image in row["returned"]["images"]] or [row["returned"]["text"]]
        wanted += [[output], join_texts(["<tool_response>\n", *shown, "\n</tool_response>"])]
    for number, body in enumerate(bodies):  # a call and its response more in each request
        assert [sizes(message["content"]) for message in body["messages"]] == wanted[: 2 + 2 * number]
        assert [message["role"] for message in body["messages"]][1:] == ["user", *["assistant", "user"] * number]
        assert "tools" not in body


@needs_corpus
async def test_the_whole_conversation_of_geoagent_is_one_turn(tmp_path):
    """Whatever it says, the model is not asked again; the request is that of the inference script."""
    corpus = Corpus(FOLDER)
    texts = corpus.texts("geoagent")["inference"]
    imported = ImportedTexts(system=texts["system"]["text"], task=texts["user"]["text"].removeprefix("<image>"))
    settings = DialectSettings.model_validate({"behaviour": "released", **imported.write(tmp_path)})
    dialect = DIALECTS["geoagent"].with_settings(settings)
    wanted = [[texts["system"]["text"]], [(1008, 756), texts["user"]["text"].removeprefix("<image>")]]
    rows = corpus.rows("geoagent", "turns")[::5]  # `bench conformance` reads them all
    assert len(rows) > 3
    for row in rows:
        # what it says after its first turn would be read by nobody
        outputs = [row["assistant"], "not asked for"]
        bodies, end = await conversation(dialect, "geoagent", PlayedTransport(NOWHERE), made_photo(1008, 756), outputs)
        (body,) = bodies
        assert [sizes(message["content"]) for message in body["messages"]] == wanted
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert "tools" not in body
        names = names_in(row["answer_for_geocoding"] or "")
        read = names_in("") if end.answer is None else Names(end.answer.country, end.answer.region, end.answer.place)
        assert read == (names if names.country else names_in("")), row["id"]


@needs_corpus
async def test_whole_runs_of_geovista_send_the_recorded_messages():
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
async def test_a_whole_run_of_reverse_sends_the_recorded_messages():
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
    return join_texts([part["text"] if part["type"] == "text" else _size(part["image"]) for part in parts])


def _size(picture):
    width, height = picture.removeprefix("<jpeg ").rstrip(">").split("x")
    return int(width), int(height)


def join_texts(parts):
    """Texts joined where they stand beside each other."""
    joined: list[Any] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined
