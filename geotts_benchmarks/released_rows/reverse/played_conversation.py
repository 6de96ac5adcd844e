"""One rollout of REVERSE over a row, and its messages as the rows write them."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from typing import Any

from PIL import Image
from pydantic import JsonValue

from geotts_benchmarks.released_rows.played_rollout import PlayedRollout, made_photo, played_rollout
from geotts_benchmarks.released_rows.reverse.services import MadeUpLens, MadeUpPages
from tools.released.catalog import released_local_tools
from tools.released.reverse.image_search import image_search_tool
from tools.released.reverse.text_search import text_search_tool
from tools.released.reverse.training_searches import training_searches
from tts.dialects.base import Dialect
from tts.dialects.released.tool_name import released_system
from tts.domain.messages import ImagePart, Message
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore
from tts.toolkit.reverse_cache.recorded_searches import ReverseCache
from tts.toolkit.spec import Tool
from tts.toolkit.toolbox import JoinedToolbox, LocalToolbox


async def play(
    dialect: Dialect, path: str, tools: Sequence[Tool], size: tuple[int, int], outputs: Sequence[str], **before: Any
) -> PlayedRollout:
    """The rollout that says these outputs, with these tools behind the broker."""
    broker = Broker(list(tools), MemoryStore())
    local = LocalToolbox(released_local_tools(released_system("reverse", path)))
    try:
        return await played_rollout(dialect, JoinedToolbox(local, broker), made_photo(*size), outputs, **before)
    finally:
        await broker.aclose()


def eval_tools(pages: MadeUpPages | None, lens: MadeUpLens, excluded: Sequence[str] = ()) -> list[Tool]:
    """The two searches of the evaluation; `pages` None is a text search without its key."""
    return [image_search_tool(lens, excluded), text_search_tool(pages, excluded)]


def rl_tools(known: ReverseCache, image: str, photo_sha256: str) -> list[Tool]:
    """The draw of the rows is that of seed 0."""
    cache = ReverseCache(known.pictures, known.texts, {photo_sha256: image})
    return training_searches(cache, lambda context, asked: random.Random(0))


def eval_message(message: Message, played: PlayedRollout) -> dict[str, JsonValue]:
    """A message as the rows of the evaluation write it: pictures by their form and size."""
    if not message.images:
        return {"role": message.role, "content": message.text}
    content: list[JsonValue] = []
    for part in message.parts:
        if isinstance(part, ImagePart):
            content.append({"type": "image", "image": _picture_mark(part, played)})
        else:
            content.append({"type": "text", "text": part.text})
    return {"role": message.role, "content": content}


def rl_message(message: Message) -> dict[str, JsonValue]:
    """A message as the rows of training write it: pictures without their size."""
    if not message.images:
        return {"role": message.role, "content": message.text}
    content: list[JsonValue] = [
        {"type": "image"} if isinstance(part, ImagePart) else {"type": "text", "text": part.text}
        for part in message.parts
    ]
    return {"role": message.role, "content": content}


def pictures_of(played: PlayedRollout) -> list[dict[str, JsonValue]]:
    """Size and mode of what the tools made, in order."""
    found: list[dict[str, JsonValue]] = []
    for result in played.results:
        for image in result.images:
            with Image.open(io.BytesIO(played.files[image.sha256])) as picture:
                found.append({"width": picture.width, "height": picture.height, "mode": picture.mode})
    return found


def _picture_mark(part: ImagePart, played: PlayedRollout) -> str:
    """A picture by its form and size: a tool's as it made it, a photo as it is scaled for the model."""
    if (data := played.files.get(part.image.sha256)) is not None:
        with Image.open(io.BytesIO(data)) as picture:
            return f"<{str(picture.format).lower()} {picture.width}x{picture.height}>"
    width, height = played.requests[0].pictures.photo.size(part.image.width, part.image.height)
    return f"<jpeg {width}x{height}>"
