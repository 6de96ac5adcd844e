"""A rollout of the embedded engine as a conversation: it asks for addresses and maps, and its answer rests on them."""

import json

import pytest
from support.basics import a_context

from tts.clues.clue_reader import ClueReader
from tts.clues.lookups import AROUND, GEOCODE, SEARCH
from tts.config import CluesEngine
from tts.domain.geo import LatLon, distance_km
from tts.domain.messages import Message
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.domain.tooling import PlaceFact, ToolResult
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
def rollout(model, sign_photo):
    """Plays a greedy rollout; `tools` answer by their names. Returns its calls and its answer."""

    async def play(*texts, **tools):
        lines = tuple(
            TextLine(text=text, box=Box(x0=0.1, y0=0.15 * i, x1=0.6, y1=0.15 * i + 0.1), confidence=0.97, height_px=40)
            for i, text in enumerate(texts)
        )
        messages, calls = [], []
        while True:
            request = ModelRequest(
                context=a_context(),
                session_id="loc_test/0",
                messages=tuple(messages),
                sampling=Sampling(temperature=0.0, seed=1 + len([m for m in messages if m.role == "assistant"])),
                photos=(sign_photo,),
                tools=tuple(ToolSchema(name=name, description="", parameters={"type": "object"}) for name in tools),
                readings=(Reading(photo_sha256=sign_photo.sha256, lines=lines),),
            )
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


async def test_an_address_nobody_knows_leaves_the_town(rollout):
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
