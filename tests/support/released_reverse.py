"""Rollouts of REVERSE as released, over made-up search results and recorded ones."""

import asyncio
from pathlib import Path

from geotts_benchmarks.released_rows.corpus import Corpus
from support.played_rollouts import MadeUpLens, MadeUpPages, made_photo, played_rollout
from tools.released.catalog import released_local_tools
from tools.released.reverse.image_search import image_search_tool
from tools.released.reverse.text_search import text_search_tool
from tools.released.reverse.training_searches import training_searches
from tts.dialects import DIALECTS
from tts.dialects.settings import DialectSettings
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore
from tts.toolkit.reverse_cache.recorded_searches import CachedResult, PictureCall, ReverseCache, TextCall
from tts.toolkit.toolbox import JoinedToolbox, LocalToolbox

ZOOM = '{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [0, 0, 500, 500]}}'
SEARCH = '{"name": "text_search_tool", "arguments": {"query": "a mill"}}'
ANSWER = "<think>x</think><answer>Land, Town, 10.5, 20.5</answer>"
PHOTO = made_photo(1008, 756)
NO_ROWS = Corpus(Path("nowhere"))  # so every query has two made-up pages


def released_dialect(path="eval", **settings):
    return DIALECTS["reverse"].with_settings(
        DialectSettings(behaviour="released", released_path=path).model_copy(update=settings)
    )


def play(outputs, *, dialect=None, tools=None, system="reverse", **options):
    pages, lens = MadeUpPages(None, NO_ROWS), MadeUpLens(None, NO_ROWS)
    behind = [image_search_tool(lens), text_search_tool(pages)] if tools is None else tools
    toolbox = JoinedToolbox(LocalToolbox(released_local_tools(system)), Broker(behind, MemoryStore()))
    return asyncio.run(played_rollout(dialect or released_dialect(), toolbox, PHOTO, outputs, **options))


def written_call(call):
    return f"<think>x</think><tool_call>{call}</tool_call>"


def tool_texts(played):
    return [message.text for message in played.requests[-1].messages if message.role == "user"][1:]


def recorded_cache():
    results = tuple(CachedResult(i, f"T{i}", f"https://{i}.example", "S", "text " * 99, i < 3) for i in range(1, 6))
    pictures = {"p.jpg": (PictureCall("p.jpg", 0, (0.0, 0.0, 500.0, 500.0), results),)}
    texts = {"p.jpg": (TextCall("p.jpg", 0, "old mill", results), TextCall("p.jpg", 1, "none", ()))}
    return ReverseCache(pictures, texts, {PHOTO.sha256: "p.jpg"})


def play_training(outputs, cache=None, **before):
    return play(
        outputs,
        dialect=released_dialect("rl"),
        tools=training_searches(cache or recorded_cache()),
        system="reverse_rl",
        **before,
    )
