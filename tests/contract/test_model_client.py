"""What every engine owes the loop, whichever it is."""

from contextlib import aclosing

import pytest
from support.basics import a_context
from support.chat_servers import BY_NAME, Turn, play_server
from support.endpoint import chunk, serving, text_chunks

from tts.clues.clue_reader import ClueReader
from tts.config import CluesEngine, OpenAIEngine, ScriptedEngine
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.egress.records import EGRESS
from tts.geodata.countries import Countries
from tts.inference.clues.engine import CluesModel
from tts.inference.openai.engine import OpenAIModel
from tts.inference.scripted.engine import ScriptedModel
from tts.ports.model_client import ModelRequest, Sampling
from tts.ports.toolbox import ToolSchema

ENGINES = {
    "clues": lambda store: CluesModel(CluesEngine(), ClueReader(store.gazetteer(), store.lexicon(), Countries())),
    "scripted": lambda _: ScriptedModel(ScriptedEngine(turns=2, tokens_per_turn=12)),
}
SEARCH = ToolSchema(name="poi_keyword_search", description="Find places.", parameters={"type": "object"})


def line(text, y=0.1):
    return TextLine(text=text, box=Box(x0=0.1, y0=y, x1=0.6, y1=y + 0.1), confidence=0.95, script="Latn", height_px=40)


def endpoint_model(body, number):
    """Says a word that depends on the seed, then calls a tool if it may: as a delta, or as hermes text."""
    words = f"I see sign {body['seed'] % 5} here"
    call = {"name": "poi_keyword_search", "arguments": '{"query": "Hamburg"}'}
    if body.get("tool_choice") == "auto":
        return text_chunks(words, chunk(tool_calls=[{"index": 0, "id": "x1", "function": call}]), finish="tool_calls")
    return text_chunks(words)


def served_model(body):
    """As `endpoint_model`, for the servers of `chat_servers`."""
    tool = {"tool": "poi_keyword_search", "arguments": {"query": "Hamburg"}}
    calls = tool if body.get("tool_choice") == "auto" else {}
    return Turn(text=f"I see sign {body.get('seed', 0) % 5} here", **calls)


@pytest.fixture(params=[*sorted(ENGINES), "openai", *BY_NAME])
async def engine(request, data_store):
    if request.param in ENGINES:
        yield ENGINES[request.param](data_store)
        return
    server = BY_NAME.get(request.param)
    play, pages = (endpoint_model, None) if server is None else (play_server(server, served_model), server.pages)
    async with serving(play, pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model="m" if server is None else server.model))
        yield model
        await model.aclose()


@pytest.fixture
def server(request):
    """The chat server behind the engine, if it is one of those."""
    return BY_NAME.get(request.node.callspec.params["engine"])


@pytest.fixture
def remote(request):
    """Whether the engine is on another machine."""
    return request.node.callspec.params["engine"] not in ENGINES


@pytest.fixture
def request_for(sign_photo):
    def make(*, seed=1, tools=(SEARCH,), session="loc_test/0"):
        lines = (line("Wilhelmsburg"), line("Inselpark", 0.3), line("Kein Winterdienst", 0.5), line("Eingang", 0.7))
        return ModelRequest(
            context=a_context(),
            session_id=session,
            messages=GenericDialect().opening(Task(photos=(sign_photo,))),
            sampling=Sampling(temperature=0.7, seed=seed),
            photos=(sign_photo,),
            tools=tools,
            readings=(Reading(photo_sha256=sign_photo.sha256, lines=lines),),
        )

    return make


async def all_deltas(engine, request):
    return [delta async for delta in engine.generate(request)]


async def deltas_of(engine, request):
    """Without the bytes that were sent: they are fewer where a picture is known."""
    deltas = await all_deltas(engine, request)
    usage = deltas[-1].usage.model_copy(update={"bytes_sent": 0})
    return [*deltas[:-1], deltas[-1]._replace(usage=usage)]


async def test_an_engine_streams_text_and_ends_with_a_finish_reason_and_usage(engine, request_for):
    deltas = await deltas_of(engine, request_for())
    assert "".join(delta.text for delta in deltas)
    assert [delta.finish_reason for delta in deltas[:-1]] == [None] * (len(deltas) - 1)
    assert deltas[-1].finish_reason in ("stop", "tool_calls")
    assert deltas[-1].usage.completion_tokens > 0


async def test_an_engine_repeats_its_reply_exactly_with_the_same_seed(engine, request_for):
    assert await deltas_of(engine, request_for(seed=5)) == await deltas_of(engine, request_for(seed=5))


async def test_an_engine_gives_different_replies_with_different_seeds(engine, request_for, server):
    if server is not None and not server.takes_seed:
        pytest.skip(f"{server.name} takes no seed")
    runs = [str(await deltas_of(engine, request_for(seed=seed))) for seed in range(8)]
    assert len(set(runs)) > 1


async def test_tools_are_called_only_when_offered(engine, request_for, server):
    if server is not None and not server.native_tools:
        pytest.skip(f"{server.name} parses no calls; they are read as text")
    with_tools = await deltas_of(engine, request_for())
    without = await deltas_of(engine, request_for(tools=()))
    names = {call.name for delta in with_tools for call in delta.tool_calls}
    assert names <= {"poi_keyword_search"}
    assert names
    assert not [delta for delta in without if delta.tool_calls]


async def test_call_ids_are_unique_within_a_turn(engine, request_for):
    ids = [call.id for delta in await deltas_of(engine, request_for()) for call in delta.tool_calls]
    assert len(ids) == len(set(ids))


async def test_an_engine_records_a_request_to_another_machine_before_its_first_token(engine, request_for, remote):
    EGRESS.take("loc_test")
    async with aclosing(engine.generate(request_for())) as deltas:
        await anext(deltas)
    assert bool(EGRESS.take("loc_test")) == remote


@pytest.mark.parametrize("pieces", [1, 2])
async def test_an_engine_can_be_used_again_after_an_abandoned_generation(engine, request_for, pieces):
    async with aclosing(engine.generate(request_for())) as deltas:
        for _ in range(pieces):
            await anext(deltas)
    assert getattr(engine, "running", 0) == 0
    assert await deltas_of(engine, request_for())
