"""What tools answered becomes mentions: a name read badly, an address, a name of what is around a point."""

import pytest

from tts.clues.clue_reader import ClueReader
from tts.clues.lookups import AROUND, GEOCODE, SEARCH, pair_lookups
from tts.clues.postal_addresses import ADDRESS
from tts.domain.geo import LatLon, distance_km
from tts.domain.tooling import PlaceFact, ToolCall, ToolResult
from tts.geodata.place_facts import place_fact

HERE = LatLon(lat=47.3717, lon=8.5386)


@pytest.fixture(scope="module")
def reader(data_store, countries):
    return ClueReader(data_store.gazetteer(), data_store.lexicon(), countries)


def answered_call(name, facts, **arguments):
    call = ToolCall(id="c", name=name, arguments=arguments)
    return pair_lookups([call], [ToolResult(call_id="c", name=name, text="", facts=tuple(facts))])


def new_mentions(reader, pairs, *texts):
    """The mentions that are there because of the answers."""
    lines = dict.fromkeys(texts, 1.0)
    known = {mention.name for mention in reader.leads(lines).mentions}
    return [mention for mention in reader.leads(lines, pairs).mentions if mention.name not in known]


def house(point=HERE, **more):
    fields = {"id": "way/1", "name": "Bahnhofstrasse 5", "place_kind": "building yes", "country_code": "CH"}
    return PlaceFact(**fields | {"point": point} | more)


def test_calls_are_paired_with_their_results():
    call, other = ToolCall(id="a", name=SEARCH), ToolCall(id="b", name=SEARCH)
    result = ToolResult(call_id="b", name=SEARCH, text="")
    assert pair_lookups([call, other], [result, ToolResult(call_id="?", name=SEARCH, text="")]) == [(other, result)]


def test_a_search_inside_a_country_explains_a_name_read_badly(reader):
    fact = PlaceFact(id="x:1", name="Rohri", point=LatLon(lat=27.69, lon=68.89), country_code="PK", score=0.775)
    (mention,) = new_mentions(reader, answered_call(SEARCH, [fact], query="روبڑی", country="PK"))
    assert mention.matches[0].place.name == "Rohri"
    assert mention.rate > 20 * mention.base
    assert new_mentions(reader, answered_call(SEARCH, [fact], query="روبڑی")) == []


def test_a_search_that_found_nothing_does_not_stand_in_the_way_of_the_next(reader):
    fact = PlaceFact(id="x:1", name="Rohri", point=LatLon(lat=27.69, lon=68.89), country_code="PK", score=0.775)
    nothing = answered_call(SEARCH, [], query="روبڑی", country="IN")
    assert len(new_mentions(reader, nothing + answered_call(SEARCH, [fact], query="روبڑی", country="PK"))) == 1


def test_an_address_that_a_geocoder_knows_is_the_point(reader):
    text = "Bahnhofstrasse 5, 8001 Zürich"
    leads = reader.leads({text: 1.0}, answered_call(GEOCODE, [house()], address=text))
    belief = reader.weigher.weigh(leads.clues, leads.mentions)
    assert distance_km(belief.best_point()[0], HERE) < 0.1
    assert belief.mass(HERE, 1.0) > 0.5
    assert {m.place.kind for mention in leads.mentions for m in mention.matches if m.matched == "Bahnhofstrasse 5"} == {
        ADDRESS
    }


def test_an_address_found_in_many_towns_is_a_weak_mention(reader):
    far = [
        house(),
        house(LatLon(lat=46.948, lon=7.447), id="way/2"),
        house(LatLon(lat=47.5596, lon=7.5886), id="way/3"),
    ]
    (one,) = new_mentions(reader, answered_call(GEOCODE, [house()], address="Bahnhofstrasse 5"))
    (many,) = new_mentions(reader, answered_call(GEOCODE, far, address="Bahnhofstrasse 5"))
    assert many.base >= 100 * one.base


def test_a_geocoded_town_adds_nothing_to_its_name_in_the_address(reader, gazetteer):
    (zurich,) = gazetteer.search("Zürich", kinds=["city"], limit=1)
    pairs = answered_call(GEOCODE, [place_fact(zurich.place, 1.0)], address="Bahnhofstrasse 5, 8001 Zürich")
    assert new_mentions(reader, pairs, "Bahnhofstrasse 5, 8001 Zürich") == []
    town = house(place_kind="boundary administrative", name="Zürich")
    assert new_mentions(reader, answered_call(GEOCODE, [town], address="Bahnhofstrasse 5")) == []


@pytest.mark.parametrize(
    "kind", ["postal code", "locality, political", "boundary postcode", "place suburb", "村庄", "热点商圈"]
)
def test_a_geocoded_place_larger_than_a_house_is_no_address(reader, kind):
    assert new_mentions(reader, answered_call(GEOCODE, [house(place_kind=kind)], address="Bahnhofstrasse 5")) == []


@pytest.mark.parametrize("kind", ["building yes", "place house", "street address", "premise", "门牌号", "兴趣点", ""])
def test_a_geocoded_house_or_a_place_of_unnamed_kind_is_an_address(reader, kind):
    (mention,) = new_mentions(reader, answered_call(GEOCODE, [house(place_kind=kind)], address="Bahnhofstrasse 5"))
    assert mention.matches[0].place.kind == ADDRESS


def test_a_misread_word_is_matched_to_the_name_of_a_place_around_the_point(reader, gazetteer):
    (town, _), *_ = gazetteer.nearest(LatLon(lat=40.4386, lon=-8.4358), limit=1)
    assert town.name == "Anadia"
    (mention,) = new_mentions(reader, answered_call(AROUND, [place_fact(town, None)]), "Anadla", "Qwxzkj")
    assert mention.quote == "Anadla"
    assert mention.matches[0].place == town
    assert mention.rate > 1000 * mention.base


def test_common_words_are_not_matched_to_names_around_the_point(reader):
    fact = PlaceFact(id="way/9", name="Market Strees", point=HERE, country_code="CH")
    assert new_mentions(reader, answered_call(AROUND, [fact]), "market", "street") == []
