"""What every tool owes a model and the evidence checks."""

import pytest
from support.basics import a_context

from tools.providers.offline_maps import OfflineMaps
from tools.providers.offline_places import OfflinePlaces
from tools.registry import ToolParts, make_tools
from tts.domain.geo import Circle, Countries, LatLon
from tts.domain.request import LocateOptions
from tts.domain.tooling import CountryFact, PlaceFact, TextFact, ToolCall, ViewFact
from tts.errors import ToolErrorKind
from tts.perception.local_perception import LocalPerception
from tts.ports.toolbox import ToolContext
from tts.toolkit.toolbox import JoinedToolbox, LocalToolbox


@pytest.fixture(scope="module")
def perception():
    perception = LocalPerception()
    yield perception
    perception.close()


@pytest.fixture(scope="module")
def toolbox(gazetteer, countries, cartographer, perception):
    places = OfflinePlaces(gazetteer, countries)
    parts = ToolParts(places=places, countries=places, maps=OfflineMaps(cartographer))
    beside_engine = LocalToolbox(make_tools(ToolParts(perception=perception), local=True))
    return JoinedToolbox(beside_engine, LocalToolbox(make_tools(parts, local=False)))


@pytest.fixture
def ask(toolbox, sign_photo):
    async def call(name, *, within=None, **arguments):
        context = ToolContext(a_context(), (sign_photo,), LocateOptions(within=within))
        return (await toolbox.call(ToolCall(id="c1", name=name, arguments=arguments), context)).result

    return call


GOOD = {
    "image_zoom": {"bbox": [0.1, 0.1, 0.9, 0.5]},
    "read_text": {"bbox": [0.05, 0.1, 0.95, 0.9]},
    "poi_keyword_search": {"query": "Coimbra"},
    "poi_input_tips": {"query": "Coim"},
    "poi_detail": {"poi_id": "iso:PT"},
    "geocode": {"address": "Wilhelmsburg, Hamburg, Germany"},
    "reverse_geocode": {"latitude": 40.2, "longitude": -8.42},
    "country_at": {"latitude": 40.2, "longitude": -8.42},
    "static_map": {"latitude": 40.2, "longitude": -8.42, "zoom": 7},
    "satellite_map": {"latitude": 40.2, "longitude": -8.42, "zoom": 5},
}


def test_every_tool_has_a_valid_call_in_this_suite(toolbox):
    assert {schema.name for schema in toolbox.schemas()} == set(GOOD)


async def test_an_unknown_tool_is_answered_with_the_names_of_all_tools(ask):
    result = await ask("nope")
    assert result.failure is not None
    assert result.failure.kind is ToolErrorKind.UNKNOWN_TOOL
    assert result.text.endswith(f"there are: {', '.join(sorted(GOOD))}")


def test_tool_schemas_have_the_form_that_models_expect(toolbox):
    for schema in toolbox.schemas():
        assert schema.parameters["type"] == "object"
        assert schema.description.endswith(".")
        assert set(schema.parameters["required"]) <= set(schema.parameters["properties"])
        assert "title" not in schema.parameters


@pytest.mark.parametrize("name", sorted(GOOD))
async def test_a_good_call_gives_text_and_facts(ask, name):
    result = await ask(name, **GOOD[name])
    assert result.ok, result.text
    assert result.text
    assert result.facts
    assert (result.call_id, result.name) == ("c1", name)
    assert result.retrieved_at.endswith("Z")


@pytest.mark.parametrize("name", sorted(GOOD))
@pytest.mark.parametrize(
    "arguments", [{}, {"query": 5, "bbox": "all", "address": None, "poi_id": [], "latitude": "north"}]
)
async def test_a_wrong_call_is_explained(ask, name, arguments):
    result = await ask(name, **arguments)
    assert result.failure.kind is ToolErrorKind.INVALID_ARGUMENTS
    assert name in result.text


@pytest.mark.parametrize("bbox", [[0.5, 0.5, 0.4, 0.9], [0, 0, 2, 1], [0.5, 0.5, 0.501, 0.501], [-1, 0, 1, 1]])
async def test_impossible_regions_are_refused(ask, bbox):
    assert (await ask("image_zoom", bbox=bbox)).failure.kind is ToolErrorKind.INVALID_ARGUMENTS


async def test_a_call_that_names_a_photo_beyond_the_last_has_invalid_arguments(ask):
    assert (await ask("image_zoom", bbox=[0, 0, 1, 1], photo=1)).failure.kind is ToolErrorKind.INVALID_ARGUMENTS


async def test_zooming_names_the_region(ask, sign_photo):
    (image,) = (await ask("image_zoom", bbox=[0.25, 0.25, 0.75, 0.75])).images
    assert (image.sha256, image.width, image.height) == (sign_photo.sha256, 400, 240)
    assert isinstance((await ask("image_zoom", bbox=[0, 0, 1, 1])).facts[0], ViewFact)


async def test_reading_a_region_gives_its_lines_in_photo_coordinates(ask):
    result = await ask("read_text", bbox=[0.0, 0.2, 1.0, 0.42])
    (fact,) = [fact for fact in result.facts if isinstance(fact, TextFact)]
    assert fact.text == "Wilhelmsburg"
    assert 0.2 <= fact.box.y0 < fact.box.y1 <= 0.45


async def test_a_region_is_read_in_a_language_there_is_a_reader_for(ask):
    as_russian = await ask("read_text", bbox=[0.0, 0.2, 1.0, 0.42], language="ru")
    assert all(fact.language == "ru" for fact in as_russian.facts if isinstance(fact, TextFact))
    unknown = await ask("read_text", bbox=[0.0, 0.2, 1.0, 0.42], language="tlh")
    assert unknown.failure is not None
    assert "no reader for 'tlh'" in unknown.text


async def test_input_tips_have_no_coordinates_and_details_have_them(ask):
    tips = await ask("poi_input_tips", query="Coimb")
    assert all(fact.point is None for fact in tips.facts)
    detail = await ask("poi_detail", poi_id=tips.facts[0].id)
    assert detail.facts[0].point is not None


async def test_a_place_that_does_not_exist_is_not_found(ask):
    for name, arguments in {
        "poi_keyword_search": {"query": "Qwxzzyplk"},
        "poi_detail": {"poi_id": "gn:0"},
        "geocode": {"address": "Nowhere Lane 7"},
        "reverse_geocode": {"latitude": -48.9, "longitude": -123.4},
    }.items():
        assert (await ask(name, **arguments)).failure.kind is ToolErrorKind.NOT_FOUND


async def test_geocoding_uses_the_larger_units(ask):
    (first, *_) = (await ask("geocode", address="Frankfurt, Brandenburg, Germany")).facts
    assert isinstance(first, PlaceFact)
    assert (first.admin1, first.country_code) == ("Brandenburg", "DE")
    assert (await ask("geocode", address="Baker Street 221b, London, UK")).facts[0].name == "London"
    (town, *_) = (await ask("geocode", address="Bahnhofstrasse 5, 8001 Zürich")).facts
    assert (town.name, town.country_code) == ("Zürich", "CH")


async def test_an_airport_is_found_by_its_code(ask):
    found = (await ask("poi_keyword_search", query="KIX")).facts
    assert "iata:KIX" in {fact.id for fact in found}


async def test_a_point_at_sea_has_no_country(ask):
    (fact,) = (await ask("country_at", latitude=0, longitude=-30)).facts
    assert isinstance(fact, CountryFact)
    assert (fact.at_sea, fact.country_code) == (True, "")


async def test_results_stay_inside_the_area_asked_for(ask):
    inside = await ask("poi_keyword_search", query="Paris", within=Countries(codes=("US",)))
    assert {fact.country_code for fact in inside.facts} <= {"US"}
    near = Circle(centre=LatLon(lat=48.85, lon=2.35), radius_km=50)
    assert {fact.country_code for fact in (await ask("poi_keyword_search", query="Paris", within=near)).facts} == {"FR"}
