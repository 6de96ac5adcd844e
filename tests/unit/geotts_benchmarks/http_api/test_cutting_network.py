"""A network that cuts streams: only event streams are cut, as often as asked for, and requests go to all services."""

import httpx
import pytest
from support.rude_server import as_json, rude_server

from geotts_benchmarks.http_api.cutting_network import CuttingTransport

EVENTS = (200, {"content-type": "text/event-stream"}, b": keep-alive\n\n" * 50)


async def test_event_streams_are_cut_as_often_as_is_asked_for_and_then_come_whole():
    async with rude_server(lambda seen: EVENTS) as server:
        wire = CuttingTransport([server.url], cuts=2, seed=1, longest=100)
        async with httpx.AsyncClient(transport=wire) as http:
            for _ in range(2):
                with pytest.raises(httpx.ReadError, match="cut"):
                    await http.get("http://service/events")
            assert (await http.get("http://service/events")).content == EVENTS[2]


async def test_other_replies_are_not_cut():
    async with (
        rude_server(lambda seen: as_json({"a": "b" * 1000})) as server,
        httpx.AsyncClient(transport=CuttingTransport([server.url], cuts=1, seed=1, longest=1)) as http,
    ):
        assert len((await http.get("http://service/")).json()["a"]) == 1000


async def test_requests_go_to_the_services_in_turn():
    async with (
        rude_server(lambda seen: as_json(1)) as one,
        rude_server(lambda seen: as_json(2)) as two,
        httpx.AsyncClient(transport=CuttingTransport([one.url, two.url], cuts=0, seed=1)) as http,
    ):
        assert [(await http.get("http://service/")).json() for _ in range(4)] == [1, 2, 1, 2]
