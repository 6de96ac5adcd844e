"""Rollouts of GeoVista as released, over made-up pages."""

import asyncio
import json

from support.played_rollouts import PlayedTransport, as_tavily, made_photo, played_rollout, played_toolbox
from tts.dialects import DIALECTS
from tts.dialects.settings import DialectSettings

PAGES = {"reply": [{"title": "A canal", "href": "https://a.example", "body": "In a town."}]}
RELEASED = DIALECTS["geovista"].with_settings(DialectSettings(behaviour="released"))


def written_call(name, **arguments):
    return f"<think>x</think><tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def play(*outputs, provider=PAGES, size=(1008, 756)):
    async def run():
        async with played_toolbox("geovista", PlayedTransport(as_tavily(provider))) as toolbox:
            return await played_rollout(RELEASED, toolbox, made_photo(*size), outputs)

    return asyncio.run(run())


ZOOM = written_call("image_zoom_in_tool", bbox_2d=[0, 0, 500, 500])
SEARCH = written_call("search_web", query="canal")
ANSWER = "<answer>Somewhere, Nowhere</answer>"
