"""Rollouts of Thinking with Map as released, over made-up replies of its providers."""

import asyncio
import json

from support.played_rollouts import PlayedTransport, made_photo, played_rollout, played_toolbox
from tts.dialects import DIALECTS
from tts.dialects.settings import DialectSettings

ANSWER = '{"lat": 30.25, "lon": 120.15, "city": "Somewhere", "country": "China"}'
TIPS = {"status": "1", "tips": [{"id": "B1", "name": "茶馆", "address": [], "typecode": "05", "city": []}]}
ZOOM = {"bbox_2d": [100, 200, 600, 700]}


def released_dialect(**settings):
    return DIALECTS["thinking_with_map"].with_settings(DialectSettings(behaviour="released", **settings))


def written_call(name, arguments):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"


def play(*outputs, provider=None, speaker=None, **before):
    """A rollout over one made-up reply, and the requests that reached the network."""

    async def run():
        chosen = speaker or released_dialect(tool_set="amap")
        path = chosen.settings.released_path
        transport = PlayedTransport(provider) if provider is not None else None
        system = "thinking_with_map_demo" if path == "demo" else "thinking_with_map"
        async with played_toolbox(system, transport) as toolbox:
            played = await played_rollout(chosen, toolbox, made_photo(1008, 756), outputs, **before)
        return played, transport.requests if transport else []

    return asyncio.run(run())


def texts_read(played):
    """What the model reads after its first turn."""
    return [message.text for message in played.appended_messages() if message.role == "tool"]
