"""Another provider's places in OpenCage's form."""

import pytest
from support.basics import a_context
from support.dialect_rollouts import OTARU

from tools.released.sources.opencage import AddressStandIn


class Asked:
    """Keeps the addresses that it is asked for, and finds one place."""

    name = "test"
    needs_network = False

    def __init__(self, *found):
        self.queries = []
        self.found = found

    async def geocode(self, address, *, country, limit, context):
        self.queries.append(address)
        return self.found


async def test_a_stand_in_is_asked_finest_part_first():
    places = Asked(OTARU)
    reply = await AddressStandIn(places).ask("Japan; Hokkaido；Otaru", a_context())
    assert places.queries == ["Otaru, Hokkaido, Japan"]
    (result,) = reply.body["results"]
    assert result["geometry"] == {"lat": OTARU.point.lat, "lng": OTARU.point.lon}
    assert result["components"] == {"_type": "town", "state": "Hokkaido", "country_code": "jp", "town": "Otaru"}
    assert (result["confidence"], result["formatted"], reply.body["total_results"]) == (10, "Otaru, Hokkaido", 1)


@pytest.mark.parametrize(("address", "asked"), [(" ; ,", 0), ("Nowhere", 1)])
async def test_what_is_not_found_has_no_results_and_an_empty_address_is_not_asked_for(address, asked):
    places = Asked()
    reply = await AddressStandIn(places).ask(address, a_context())
    assert (reply.body["results"], reply.body["total_results"], len(places.queries)) == ([], 0, asked)


async def test_a_place_without_a_point_is_no_result():
    reply = await AddressStandIn(Asked(OTARU.model_copy(update={"point": None}))).ask("Otaru", a_context())
    assert reply.body["results"] == []
