"""A rollout of the embedded engine as a conversation: it asks for addresses and maps, and its answer rests on them."""

import json
from collections import defaultdict
from operator import itemgetter
from typing import Any

import pytest
from support.basics import a_context

from tts.clues.clue_reader import ClueReader
from tts.clues.lookups import AROUND, GEOCODE, SEARCH
from tts.config import CluesEngine
from tts.domain.geo import LatLon, distance_km
from tts.domain.messages import Message
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.domain.tooling import PlaceFact, TextFact, ToolCall, ToolResult
from tts.geodata.place_facts import place_fact
from tts.inference.clues.engine import CluesModel
from tts.ports.model_client import ModelRequest, Sampling
from tts.ports.toolbox import ToolSchema

DOOR = LatLon(lat=47.3717, lon=8.5386)
HOUSE = PlaceFact(id="way/1", name="Bahnhofstrasse 5", place_kind="building yes", point=DOOR, country_code="CH")


@pytest.fixture(scope="module")
def model(data_store, countries):
    return CluesModel(CluesEngine(), ClueReader(data_store.gazetteer(), data_store.lexicon(), countries))


@pytest.fixture
def conversation(sign_photo):
    """A request of a greedy rollout about a sign with these lines."""

    def request(texts, messages=(), tools=(), **sampling):
        lines = tuple(
            TextLine(text=text, box=Box(x0=0.1, y0=0.15 * i, x1=0.6, y1=0.15 * i + 0.1), confidence=0.97, height_px=40)
            for i, text in enumerate(texts)
        )
        seed = 1 + len([message for message in messages if message.role == "assistant"])
        return ModelRequest(
            context=a_context(),
            session_id="loc_test/0",
            messages=tuple(messages),
            sampling=Sampling(**{"temperature": 0.0, "seed": seed} | sampling),
            photos=(sign_photo,),
            tools=tuple(ToolSchema(name=name, description="", parameters={"type": "object"}) for name in tools),
            readings=(Reading(photo_sha256=sign_photo.sha256, lines=lines),),
        )

    return request


@pytest.fixture
def rollout(model, conversation):
    """Plays a greedy rollout; `tools` answer by their names. Returns its calls and its answer."""

    async def play(*texts, **tools):
        messages: list[Message] = []
        calls: list[ToolCall] = []
        while True:
            request = conversation(texts, messages, tools)
            deltas = [delta async for delta in model.generate(request)]
            asked = [call for delta in deltas for call in delta.tool_calls]
            if not asked:
                text = "".join(delta.text for delta in deltas)
                return calls, json.loads(text[text.index("\n{") :])
            calls += asked
            messages.append(Message(role="assistant", tool_calls=tuple(asked)))
            for call in asked:
                facts = tuple(tools[call.name](call.arguments))
                result = ToolResult(call_id=call.id, name=call.name, text="", facts=facts)
                messages.append(Message(role="tool", result=result))

    return play


async def test_an_address_is_geocoded_and_answered_to_the_door(rollout):
    calls, answer = await rollout("Uhren Meier", "Bahnhofstrasse 5", "8001 Zürich", geocode=lambda _: [HOUSE])
    assert [(call.name, call.arguments["address"]) for call in calls] == [(GEOCODE, "Bahnhofstrasse 5, 8001 Zürich")]
    assert answer["level"] == "point"
    assert answer["city"] == "Zürich"
    assert answer["radius_km"] < 5
    assert distance_km(LatLon(lat=answer["lat"], lon=answer["lon"]), DOOR) < 0.1
    assert calls[0].id in {claim["call"] for claim in answer["evidence"]}


async def test_an_unknown_address_is_answered_with_its_town(rollout):
    _, answer = await rollout("www.uhren-zelmor.ch", "Bahnhofstrasse 5", "8001 Zürich", geocode=lambda _: [])
    assert (answer["level"], answer["city"]) == ("city", "Zürich")


async def test_a_street_without_town_or_country_is_not_asked_for(rollout):
    calls, _ = await rollout("Via Zelmorvat 5", geocode=lambda _: [])
    assert calls == []
    calls, _ = await rollout("Via Zelmorvat 5", "+39 081 123 4567", "www.zelmorvat.it", geocode=lambda _: [])
    assert [call.arguments for call in calls] == [{"address": "Via Zelmorvat 5", "country": "IT"}]


async def test_the_map_around_a_place_is_checked_where_a_word_is_left_over(rollout, gazetteer):
    def around(arguments):
        point = LatLon(lat=arguments["latitude"], lon=arguments["longitude"])
        return [place_fact(place, None) for place, _ in gazetteer.nearest(point, limit=3)]

    sign = ("Câmara Municipal de Anadia", "www.cm-anadia.pt", "Qwxzkjv")
    calls, answer = await rollout(*sign, poi_keyword_search=lambda _: [], reverse_geocode=around)
    (check,) = [call for call in calls if call.name == AROUND]
    town = LatLon(lat=check.arguments["latitude"], lon=check.arguments["longitude"])
    assert gazetteer.nearest(town, limit=1)[0][0].name == "Anadia"
    cited = [claim["quote"] for claim in answer["evidence"] if claim["call"] == check.id]
    assert cited  # the town that is there and on the sign, nothing else that is there
    assert all("Anadia" in quote for quote in cited)
    calls, _ = await rollout(*sign[:2], poi_keyword_search=lambda _: [], reverse_geocode=around)
    assert {call.name for call in calls} <= {SEARCH}


def points(texts):
    """Latitude and longitude of each draw."""
    return [(answer["lat"], answer["lon"]) for answer in map(json.loads, texts)]


def place(belief, number):
    """The same of a place of a belief, rounded as in answers."""
    return round(float(belief.lat[number]), 5), round(float(belief.lon[number]), 5)


async def test_answers_drawn_again_are_exact_draws_from_the_belief(model, conversation):
    request = conversation(["Ristorante Bellinzona", "Hotel Lugano", "6500"], temperature=0.7)
    belief = model._make_turn(request, 0.0).belief
    texts, usage = await model.draw(request, 4000)
    drawn = points(texts)
    assert usage.prompt_tokens < 4000 < usage.completion_tokens  # the prompt is read once
    shares: dict[Any, float] = defaultdict(float)
    for number, share in enumerate(belief.share):
        shares[place(belief, number)] += float(share)
    largest = sorted(shares.items(), key=itemgetter(1), reverse=True)[:4]
    for at, share in [*largest, ((None, None), 1.0 - belief.share.sum())]:
        assert share > 0.01
        margin = 4 * (share * (1 - share) / len(drawn)) ** 0.5  # four standard errors
        assert drawn.count(at) / len(drawn) == pytest.approx(share, abs=margin)


async def test_draws_depend_on_the_seed_and_on_nothing_else(model, conversation):
    sign = ["Ristorante", "www.zelmorvat.it"]
    first, again, other = [await model.draw(conversation(sign, seed=seed), 8) for seed in (1, 1, 2)]
    assert first == again
    assert points(first[0]) != points(other[0])
    assert len(set(points(first[0]))) > 4  # Italy has many towns, and nothing says which


async def test_a_belief_that_is_too_vague_gives_draws_without_a_point(model, conversation):
    texts, _ = await model.draw(conversation(["Qwxzkjv"]), 3)
    assert points(texts) == [(None, None)] * 3


async def test_a_draw_that_is_longer_than_a_turn_may_be_is_cut_off(model, conversation):
    texts, usage = await model.draw(conversation(["www.zelmorvat.it", "Ristorante"], max_tokens=2), 3)
    assert texts == (None, None, None)
    assert usage.completion_tokens == 6


async def test_names_that_reading_brought_are_looked_up_before_the_answer(rollout, gazetteer):
    """A turn looks up one strange name beside a reading; when there is no more to read, those that are left."""
    (negombo,) = gazetteer.search("Negombo", countries=["LK"], limit=1, fuzzy=False)
    lines = [
        TextFact(text=text, box=Box(x0=0.1, y0=y, x1=0.6, y1=y + 0.05), language="si", confidence=0.9)
        for text, y in (("කඇණනෑ", 0.0), ("මිගමුව", 0.07))
    ]
    calls, answer = await rollout(
        "SGga thghe",
        "www.zelmor.lk",
        read_text=lambda _: lines,
        poi_keyword_search=lambda arguments: [place_fact(negombo.place, 0.8)] if arguments["query"] == "මිගමුව" else [],
    )
    assert {"කඇණනෑ", "මිගමුව"} <= {call.arguments.get("query") for call in calls}
    assert answer["city"] == "Negombo"
