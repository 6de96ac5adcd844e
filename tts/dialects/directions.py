"""The request to the leader for different beginnings, and the direction that each sibling gets.

A direction is a line of enquiry: what a rollout looks into first. The text is the same for every dialect and follows
its question. Prompts of one request are therefore the same up to here, and an engine that keeps prefixes reads the
photo once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tts.domain.messages import Message, TextPart

_MAX_DIRECTION_CHARS = 200  # characters of a direction
_BLOCK = re.compile(r"<directions>(.*?)(?:</directions>|$)", re.DOTALL | re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])?\s*")


def ask_for_directions(opening: Sequence[Message], count: int) -> tuple[Message, ...]:
    """The opening of the leader: before its first tool call it names `count` directions."""
    return _append_text(
        opening,
        f"Others look at the same photo beside you. Before your first tool call, write {count} lines of enquiry inside "
        "<directions></directions>, one a line: each names one thing in the photo, and what to look up about it. Make "
        "them as different as you can. Follow the first one yourself.",
    )


def give_direction(opening: Sequence[Message], direction: str, taken: Sequence[str]) -> tuple[Message, ...]:
    """The opening of a sibling: it looks into `direction` first, or is free if that is empty. It leaves to the others
    what they have `taken`.
    """
    mine = f"Begin with this line of enquiry: {direction!r}." if direction else "Begin with something else."
    others = "\n".join(f"- {one}" for one in taken)
    return _append_text(
        opening,
        f"Others look at the same photo beside you. They begin with these lines of enquiry:\n{others}\nLeave these to "
        f"them. {mine} If it leads nowhere, go by what else you see.",
    )


def directions_in(text: str, most: int) -> tuple[str, ...]:
    """What a leader wrote: at most `most` directions, each on one line; empty if there is no block of them. The last
    block counts: one before it is a draft, and an empty one is spoken of.
    """
    found: list[str] = []
    for block in _BLOCK.findall(text):
        lines = (" ".join(_BULLET.sub("", line, count=1).split()) for line in block.splitlines())
        found = [line[:_MAX_DIRECTION_CHARS] for line in lines if line] or found
    return tuple(dict.fromkeys(found))[:most]


def _append_text(opening: Sequence[Message], text: str) -> tuple[Message, ...]:
    """The opening with a text at the end of its last message."""
    *before, last = opening
    parts = (*last.parts, TextPart(text=f"\n\n{text}"))
    return (*before, last.model_copy(update={"parts": parts}))
