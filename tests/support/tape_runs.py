"""Runs of tool calls that are recorded on a tape, and replayed."""

import asyncio

from support.basics import a_context
from tts.config import TapeConfig
from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolContext


def calls_of_run(i):
    """Calls of a run: places, maps with pictures, searches of one and several queries, mistakes."""
    kinds = [
        ("poi_keyword_search", {"query": f"Coimbra {i % 3}"}),
        ("web_search", {"query": [f"bakery {i}", "tram stop"]}),
        ("web_search", {"query": f"bakery {i}"}),
        ("static_map", {"latitude": 40.0 + i % 2, "longitude": -8.0, "zoom": 6}),
        ("poi_detail", {"poi_id": "gn:0"}),
        ("country_at", {"latitude": "north", "longitude": 0}),
        ("no_such_tool", {}),
    ]
    return [ToolCall(id=f"r{i}c{j}", name=name, arguments=arguments) for j, (name, arguments) in enumerate(kinds)]


async def run(toolbox, requests=20):
    """Every outcome of a run of many requests side by side, as bytes."""

    async def one(call, i):
        context = ToolContext(a_context().model_copy(update={"id": f"loc_{i}"}), photo_sha256=(f"photo{i % 4}",))
        outcome = await toolbox.call(call, context)
        return outcome.result.json_bytes(), outcome.attachments

    return await asyncio.gather(*(one(call, i) for i in range(requests) for call in calls_of_run(i)))


def with_tape(tools, path, mode, **fields):
    return tools.model_copy(update={"tape": TapeConfig(path=str(path), mode=mode, **fields)})
