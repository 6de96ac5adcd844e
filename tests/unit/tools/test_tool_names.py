"""The list of tool names that a gateway checks requests against is that of the tools there are."""

from types import SimpleNamespace

from tools import local_tools
from tools.names import TOOL_NAMES
from tools.provider_catalog import Offline, build_catalog
from tools.web import image_search_tool
from tts.config import ToolsConfig
from tts.toolkit.broker.store import MemoryStore

KEYS = {"GOOGLE_MAPS_API_KEY": "g", "SERPER_API_KEY": "s"}


async def test_the_names_are_those_of_all_tools():
    places = SimpleNamespace(name="offline", needs_network=False)
    catalog = build_catalog(
        ToolsConfig(providers=("google", "serper")), Offline(places, places), MemoryStore(), environment=KEYS
    )
    made = [*local_tools(SimpleNamespace()), *catalog.tools, image_search_tool(places)]
    assert {tool.spec.name for tool in made} == set(TOOL_NAMES)
    await catalog.aclose()
