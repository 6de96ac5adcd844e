"""Tapes over the configured toolbox: a whole run replays, and searches that are alike are found."""

import pytest
from support.basics import a_context
from support.provider_server import answer_with_samples, config_for
from support.rude_server import as_json, rude_server
from support.tape_runs import run, with_tape

from deployments.config import AppArgs
from deployments.wiring.toolbox_assembly import apply_tape, make_tooling
from tts.config import ProviderSettings, ToolsConfig
from tts.domain.photo import Box
from tts.domain.tooling import ToolCall, WebFact
from tts.errors import ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.tape.file import read_tape, write_tape
from tts.toolkit.tape.reverse_layout import export_reverse
from tts.toolkit.tape.similar_searches import SearchTape
from tts.toolkit.tape.tape_toolboxes import RecordingToolbox, ReplayToolbox

KEYS = {"SERPER_API_KEY": "tape-secret-key"}


async def test_a_run_of_twenty_requests_replays_bit_for_bit_without_network_or_key(data_store, tmp_path):
    path = tmp_path / "run.tape"
    async with rude_server(answer_with_samples("serper")) as server:
        tools = config_for(server, "serper", "offline")
        tooling = make_tooling(AppArgs(tools=tools), KEYS)
        recorded = await run(apply_tape(tooling.toolbox, with_tape(tools, path, "record")))
        await tooling.aclose()
    parquet = tmp_path / "run.parquet"
    write_tape(read_tape(path), parquet)
    for tape in (path, parquet):
        replay = apply_tape(make_tooling(AppArgs(), {}).toolbox, with_tape(ToolsConfig(), tape, "replay"))
        assert isinstance(replay, ReplayToolbox)
        assert replay.schemas() == tooling.toolbox.schemas()
        assert await run(replay) == recorded
        assert replay.missed == 0
    assert b"tape-secret-key" not in path.read_bytes() + parquet.read_bytes()


async def test_queries_and_boxes_that_are_alike_are_found(tmp_path):
    hits = (WebFact(number=1, title="Torre", url="https://example.com/torre"),)
    tape = SearchTape()
    tape.add_text("clock tower coimbra university portugal", hits)
    tape.add_picture("p1", Box(x0=0.1, y0=0.1, x1=0.5, y1=0.5), hits)
    export_reverse(tape, tmp_path)
    tools = ToolsConfig(providers=("offline", "tape"), settings={"tape": ProviderSettings(path=str(tmp_path))})
    toolbox = make_tooling(AppArgs(tools=tools), {}).toolbox

    async def ask(name, **arguments):
        context = ToolContext(a_context(), photo_sha256=("p1",))
        return (await toolbox.call(ToolCall(id="c", name=name, arguments=arguments), context)).result

    found = await ask("web_search", query=["Clock tower, Coimbra university", "something else"])
    assert [(fact.number, fact.url) for fact in found.facts] == [(1, "https://example.com/torre")]
    assert (await ask("web_search", query="tower")).failure.kind is ToolErrorKind.NOT_FOUND
    assert (await ask("image_search", bbox=[0.12, 0.1, 0.5, 0.52])).ok
    assert (await ask("image_search", bbox=[0.3, 0.3, 0.9, 0.9])).failure.kind is ToolErrorKind.NOT_FOUND
    assert (await ask("image_search", bbox=[0, 0, 1, 1], photo=3)).failure.kind is ToolErrorKind.INVALID_ARGUMENTS


async def test_a_replay_finds_searches_that_are_alike(data_store, tmp_path):
    path = tmp_path / "run.tape"
    async with rude_server(lambda seen: as_json({"results": [{"url": "https://a.org", "title": "A"}]})) as server:
        tooling = make_tooling(AppArgs(tools=config_for(server, "searxng", "offline")), {})
        recorder = RecordingToolbox(tooling.toolbox, path)
        call = ToolCall(id="1", name="web_search", arguments={"query": ["old red tram lisbon", "x y z"]})
        await recorder.call(call, ToolContext(a_context()))
        await tooling.aclose()
    replay = apply_tape(make_tooling(AppArgs(), {}).toolbox, with_tape(ToolsConfig(), path, "replay"))
    near = ToolCall(id="2", name="web_search", arguments={"query": "Old red TRAM, Lisbon!"})
    assert (await replay.call(near, ToolContext(a_context()))).result.facts[0].url == "https://a.org"


@pytest.mark.parametrize("misses", ["empty", "live"])
async def test_a_call_missing_on_the_tape_is_made_live_where_the_configuration_says_so(data_store, tmp_path, misses):
    path = tmp_path / "run.tape"
    live = make_tooling(AppArgs(), {}).toolbox
    recorder = RecordingToolbox(live, path)
    context = ToolContext(a_context())
    await recorder.call(ToolCall(id="1", name="poi_keyword_search", arguments={"query": "Faro"}), context)
    replay = apply_tape(live, with_tape(ToolsConfig(), path, "replay", misses=misses))
    miss = ToolCall(id="2", name="poi_keyword_search", arguments={"query": "Beja"})
    assert (await replay.call(miss, context)).result.ok == (misses == "live")
