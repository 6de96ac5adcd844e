"""A tool that another package adds asks another machine: what it sends is listed under the request that it names."""

import pytest
from support.provider_calls import call, consenting_context
from support.rude_server import rude_server

from tts import extensions
from tts.config import TapeConfig, ToolsConfig
from tts.domain.outgoing_request import Outgoing

MODULE = """
import os

from tools.places import PointArguments
from tts.net.fetch_limits import FetchLimits
from tts.toolkit.spec import FunctionTool, Observation, ToolSpec

def make_tool(parts):
    client = parts.client(FetchLimits(allow_hosts={os.environ["WEATHER_HOST"]}))

    async def weather(arguments, context):
        fetched = await client.fetch(f"http://{os.environ['WEATHER_HOST']}/now", request_id=context.request.id)
        return Observation(text=fetched.content.decode())

    return FunctionTool(ToolSpec("weather_at", "The weather at a point."), PointArguments, weather)
"""


@pytest.fixture
def weather_package(tmp_path, monkeypatch):
    (tmp_path / "weather_tool.py").write_text(MODULE)
    installed = tmp_path / "weather-1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: weather\nVersion: 1\n")
    (installed / "entry_points.txt").write_text("[geotts.tools]\nweather_at = weather_tool:make_tool\n")
    monkeypatch.syspath_prepend(tmp_path)
    extensions._added_entry_points.cache_clear()
    yield
    extensions._added_entry_points.cache_clear()


async def test_requests_of_an_added_tool_are_recorded_with_the_id_of_the_request(provide, weather_package, monkeypatch):
    records: list[Outgoing] = []
    async with rude_server(lambda _: (200, {}, b"rain")) as server:
        monkeypatch.setenv("WEATHER_HOST", server.host)
        async with provide("offline", record=records.append) as (_, catalog):
            outcome = await call(catalog, "weather_at", latitude=1.0, longitude=2.0)
    assert outcome.result.text == "rain"
    assert [(one.url, one.request_id) for one in records] == [
        (f"http://{server.host}/now", consenting_context().request.id)
    ]


def test_an_added_tool_counts_as_able_to_send_even_if_no_provider_needs_the_network(weather_package, tmp_path):
    assert ToolsConfig().may_send
    assert not ToolsConfig().needs_network
    assert not ToolsConfig(tape=TapeConfig(path=str(tmp_path / "t"), mode="replay")).may_send


def test_the_embedded_tools_alone_count_as_unable_to_send():
    assert not ToolsConfig().may_send
