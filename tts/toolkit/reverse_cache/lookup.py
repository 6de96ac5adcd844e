"""Finds a recorded call as the training does: the photo by its path, a box by its overlap, a query by common words.

Each call of the released loop makes a new tool, so only the first recorded box of a photo is ever compared; a query
gets the recorded one with the largest share of equal words even when it shares none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tts.rewards.released.reverse_reward import overlap
from tts.toolkit.reverse_cache.recorded_searches import PictureCall, ReverseCache, TextCall

IOU_MIN = 0.7  # script/rl/config/tool_config/geoloc_coldstart_v5.yaml:38
QUERY_SEPARATOR = " | "


def picture_call(cache: ReverseCache, path: str, box: Sequence[float]) -> tuple[PictureCall | None, float | None]:
    """The first recorded call of a photo and its overlap with `box` (thousandths); None for a photo without calls.

    Args:
        cache: the recorded calls.
        path: the path of the photo in the tables (`ReverseCache.path_of`).
        box: (x0, y0, x1, y1) in thousandths of the photo's sides.

    Returns:
        The call, however little it overlaps, and the intersection over union in [0, 1]; or None twice.
    """
    calls = cache.pictures.get(path, ())
    return (calls[0], overlap(box, calls[0].box)) if calls else (None, None)


def text_call(cache: ReverseCache, path: str, query: str) -> TextCall | None:
    """Find the recorded call whose query is most like `query`.

    Args:
        cache: the recorded calls.
        path: as in `picture_call`.
        query: as `query_text` returns it.

    Returns:
        The call, however little its query is like it, the first of equals; None for a photo without calls.
    """
    calls = cache.texts.get(path, ())
    return max(calls, key=lambda call: likeness(query, call.query)) if calls else None


def query_text(written: Any) -> str:
    """Write a query as it is compared and shown.

    Args:
        written: what the model wrote as the query: a text, a list of texts, or anything else.

    Returns:
        A list as one text, with ` | ` between its items and without empty ones; anything else as its text.
    """
    if isinstance(written, list):
        return QUERY_SEPARATOR.join(str(query) for query in written if query)
    return str(written).strip()


def likeness(a: str, b: str) -> float:
    """Compare two queries by the Jaccard index of the lower-cased words between blanks.

    Args:
        a, b: the two texts, in either order.

    Returns:
        A number in [0, 1]; 1 for two empty texts.
    """
    ours, theirs = set(a.lower().split()), set(b.lower().split())
    if not ours and not theirs:
        return 1.0
    return len(ours & theirs) / len(ours | theirs)
