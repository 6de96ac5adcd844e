"""Rollouts of the embedded engine divide what they ask first, without waiting for each other."""

import asyncio
import json

import pytest
from support.basics import a_context

from tts.clues.clue_reader import ClueReader
from tts.config import CluesEngine, OpenAIEngine, PipelineConfig
from tts.config.mixture import EngineShare
from tts.domain.messages import text_message
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.inference.clues.engine import CluesModel
from tts.inference.clues.sibling_share import SiblingShare
from tts.ports.model_client import ModelRequest, Sampling
from tts.ports.toolbox import ToolSchema

N = 4
TOOLS = tuple(
    ToolSchema(name=name, description="", parameters={}) for name in ("read_text", "poi_keyword_search", "geocode")
)


@pytest.fixture(scope="module")
def model(data_store, countries):
    return CluesModel(CluesEngine(), ClueReader(data_store.gazetteer(), data_store.lexicon(), countries))


@pytest.fixture
def first_calls(model, sign_photo):
    texts = ("Zürich", "Winterthur", "Schaffhausen", "Zelmorvat", "Quotarne", "Bahnhofstrasse 12")
    lines = tuple(
        TextLine(text=text, box=Box(x0=0.1, y0=0.12 * i, x1=0.6, y1=0.12 * i + 0.1), confidence=0.9, height_px=40)
        for i, text in enumerate(texts)
    )

    def ask(sibling, siblings, seed, photos=1):
        async def decide():
            request = ModelRequest(
                context=a_context(),
                session_id=f"loc_test/{sibling}",
                messages=(text_message("user", "Where was this photo taken?"),),
                sampling=Sampling(temperature=0.7, seed=seed),
                photos=(sign_photo,) * photos,
                tools=TOOLS,
                readings=(Reading(photo_sha256=sign_photo.sha256, lines=lines),),
                sibling=sibling,
                siblings=siblings,
            )
            return [call async for delta in model.generate(request) for call in delta.tool_calls]

        return {json.dumps([call.name, call.arguments], sort_keys=True) for call in asyncio.run(decide())}

    return ask


def test_no_two_siblings_make_the_same_first_call(first_calls):
    asked = [first_calls(i, N - 1, seed=100 + i) for i in range(N - 1)]
    assert sum(len(calls) for calls in asked) == len(set.union(*asked)) >= N


def test_a_sibling_without_a_share_of_first_calls_begins_like_a_lone_rollout(first_calls):
    assert first_calls(50, 100, seed=3) == first_calls(0, 1, seed=3) != set()


def test_the_first_calls_of_a_sibling_do_not_depend_on_its_seed(first_calls):
    assert first_calls(1, N, seed=1) == first_calls(1, N, seed=2) != set()


def test_siblings_together_make_the_first_calls_of_a_lone_rollout(first_calls):
    together = set.union(*(first_calls(i, N, seed=i) for i in range(N)))
    names = {call for call in first_calls(0, 1, seed=1) if "poi_keyword_search" in call and "Z" in call}
    assert names <= together


def test_a_lone_rollout_draws_its_first_calls_by_its_seed(first_calls):
    assert len({frozenset(first_calls(0, 1, seed=seed)) for seed in range(6)}) > 1


def test_siblings_do_not_divide_the_first_calls_about_several_photos(first_calls):
    assert first_calls(0, N, seed=1, photos=2) == first_calls(0, 1, seed=1, photos=2) != set()


def test_every_option_belongs_to_one_sibling():
    options = list("abcdefg")
    shares = [SiblingShare(i, 3).own_options(options) for i in range(3)]
    assert shares == [["a", "d", "g"], ["b", "e"], ["c", "f"]]
    assert SiblingShare().own_options(options) == options
    assert [SiblingShare(i, 3).is_first for i in range(4)] == [True, False, False, True]


def test_the_leader_is_asked_unless_every_engine_divides_the_calls_itself():
    clues = EngineShare(name="a", engine=CluesEngine())
    other = EngineShare(name="b", engine=OpenAIEngine())
    assert PipelineConfig().divides_first_calls
    assert not PipelineConfig(engine=OpenAIEngine()).divides_first_calls
    assert not PipelineConfig(engines=(clues, other)).divides_first_calls
