"""Tools of another service of GeoTTS, by its MCP server."""

import asyncio

import pytest
from support.basics import a_context
from support.service import an_app, serving

from deployments.wiring.local import local_tools
from tools.external.catalog import external_tools
from tts.config import McpServerConfig, ToolsConfig
from tts.domain.tooling import ToolCall
from tts.egress.records import EGRESS
from tts.ports.toolbox import ToolContext

CONTEXT = ToolContext(a_context())


@pytest.mark.slow
async def test_another_service_of_geotts_is_asked_over_http(data_store):
    toolbox = local_tools(an_app()).toolbox
    async with serving(an_app(), toolbox=toolbox) as (url, _):
        config = McpServerConfig(url=f"{url}/mcp", allow=("country_at",))
        args = an_app().model_copy(update={"tools": ToolsConfig(mcp={"far": config})})
        tools = await asyncio.to_thread(local_tools, args)
        assert args.tools.needs_network
        call = ToolCall(id="c", name="far__country_at", arguments={"latitude": 46.19, "longitude": 9.02})
        EGRESS.take("loc_test")
        result = (await tools.toolbox.call(call, CONTEXT)).result
        assert "CH" in result.text
        [egress_record] = EGRESS.take("loc_test")
        assert egress_record.outgoing.url == f"{url}/mcp"
        small = config.model_copy(update={"max_bytes": 1024})
        assert external_tools({}, environment={}) == []
        assert await asyncio.to_thread(external_tools, {"far": small}, environment={}) == []
