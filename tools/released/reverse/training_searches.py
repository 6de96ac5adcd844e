"""The searches of training as tools. The draw of a rollout is its own: the request and what was asked are its seed."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

from tools.released.reverse.recorded_results import Chance, RecordedResult, recorded_pages, recorded_pictures
from tools.released.reverse.training_arguments import get_from
from tools.released.written_arguments import WrittenArguments
from tts.dialects.released.reverse.eval_tool_parser import IMAGE_SEARCH, TEXT_SEARCH
from tts.dialects.released.reverse.served_tools import RL_SYSTEM
from tts.dialects.released.tool_name import released_tool_name
from tts.ports.toolbox import ToolContext
from tts.toolkit.reverse_cache.recorded_searches import ReverseCache
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec

Draw = Callable[[ToolContext, Any], random.Random]
_Search = Callable[[ReverseCache, str, Any, Chance], RecordedResult]


def random_of_request(context: ToolContext, asked: Any) -> random.Random:
    """Seed the draw of results, so that it is the same whenever one request asks the same.

    Args:
        context: that of the call; only the id of the request counts.
        asked: the box or the query as the model wrote it, any JSON value.

    Returns:
        A new generator for each call.
    """
    seed = hashlib.sha256(json.dumps([context.request.id, asked], default=str).encode()).digest()
    return random.Random(seed)


def training_searches(cache: ReverseCache, draw: Draw = random_of_request) -> list[Tool]:
    """Make the searches of the training over recorded calls.

    Args:
        cache: the recorded calls; nothing is found in an empty one.
        draw: makes the generator that draws the results of a call, from the context and what the model asked.

    Returns:
        `image_search` by picture, and `web_search` by text.
    """
    return [
        _make_tool("image_search", IMAGE_SEARCH, "bbox_2d", recorded_pictures, cache, draw),
        _make_tool("web_search", TEXT_SEARCH, "query", recorded_pages, cache, draw),
    ]


def _make_tool(ability: str, name: str, key: str, search: _Search, cache: ReverseCache, draw: Draw) -> Tool:
    async def run(arguments: WrittenArguments, context: ToolContext) -> Observation:
        asked = get_from(arguments.written, key)
        missing = "" if key == "query" and "query" not in arguments.written else asked
        photos = context.photo_hashes()
        path = cache.path_of(photos[0]) if photos else ""
        found = search(cache, path, missing, lambda: draw(context, asked))
        return Observation(text=found.text, facts=found.facts)

    spec = ToolSpec(
        released_tool_name(ability, RL_SYSTEM, name),
        f"{name} of REVERSE's training, as released",
        provider="tape",
        cacheable=False,
        depends_on_photo=True,
    )
    return FunctionTool(spec, WrittenArguments, run)
