"""Whole conversations of Thinking with Map with a scripted endpoint send the released messages."""

import json
from urllib.parse import unquote_plus

import httpx
from support.released_conversations import FOLDER, conversation, join_texts, needs_corpus, sizes

from geotts_benchmarks.released_rows.corpus import Corpus
from geotts_benchmarks.released_rows.played_rollout import made_photo
from geotts_benchmarks.released_rows.played_transport import PlayedTransport
from geotts_benchmarks.released_rows.thinking_with_map import subject as thinking_with_map

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
