"""The geocoder of GeoAgent as released: OpenCage's replies, and a stand-in that replies in its form."""

import json

from support.basics import a_context
from support.provider_server import answer_with_samples, served_providers
from support.rude_server import as_json

from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolContext
from tts.toolkit.toolbox import LocalToolbox

GEOCODER = "geocode.geoagent.opencage"
NOTHING = {"results": [], "status": {"code": 200, "message": "OK"}, "total_results": 0}


async def found_with(catalog, address):
    outcome = await LocalToolbox(catalog.tools).call(
        ToolCall(id="c", name=GEOCODER, arguments={"address": address}), ToolContext(a_context())
    )
    return outcome.result, json.loads(outcome.result.text)


async def test_the_stand_in_answers_in_the_form_of_opencage(gazetteer, countries):
    async with served_providers("opencage", gazetteer=gazetteer, countries=countries, system="geoagent") as (
        _,
        catalog,
    ):
        _, of_opencage = await found_with(catalog, "China; Beijing")
    async with served_providers("offline", gazetteer=gazetteer, countries=countries, system="geoagent") as (_, catalog):
        result, stood_in = await found_with(catalog, "Japan; Hokkaido; Otaru")
        missing, error = await found_with(catalog, "Qqqxx; Zzzxx")
    assert stood_in.keys() == of_opencage.keys()
    assert stood_in["components"].keys() >= {"_type", "country_code"}
    (fact,) = result.facts
    assert (fact.name, fact.country_code) == ("Otaru", "JP")
    assert error == {"status": "error", "code": 200, "message": "OK", "address": "Qqqxx"}
    assert missing.failure.kind == "not_found"


async def test_a_lookup_drops_the_last_part_of_a_name_until_something_is_found(gazetteer, countries):
    found = answer_with_samples("opencage")

    def answer(seen):
        return as_json(NOTHING) if "Nowhere" in seen.query["q"] else found(seen)

    async with served_providers(
        "opencage", gazetteer=gazetteer, countries=countries, system="geoagent", answer=answer
    ) as (
        server,
        catalog,
    ):
        result, _ = await found_with(catalog, "China; Beijing; Nowhere 5")
        assert [seen.query["q"] for seen in server.seen] == ["China, Beijing, Nowhere 5", "China, Beijing"]
    assert result.ok
