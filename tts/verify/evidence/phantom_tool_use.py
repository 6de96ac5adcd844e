"""Finds statements of a rollout about tool calls that it did not make.

A rollout that says "the satellite view confirms it" without such a call has invented this, and the invention
counts against it. Only statements in the past or present tense count; intentions and conditions do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tts.domain.trajectory import Trajectory

_INTENTION = re.compile(
    r"\b(?:could|would|should|will|shall|let me|let's|might|may|going to|want to|plan to|try to|next|if|without|no|not"
    r"|never|cannot|can't|unable|need to|i'll|to)\b[^.!?\n]{0,40}$",
    re.IGNORECASE,
)
_CONFIRMING_VERBS = (
    r"(?:confirm|show|match|reveal|indicate|agree|support|verif|prove|prov|suggest|align|place|point|correspond|fit"
    r"|depict)"
)
_LOOKING_VERBS = (
    r"(?:looked at|checked|examined|consulted|inspected|compared|reviewed|studied|opened|viewed|cross-?checked"
    r"|verified|saw)"
)


@dataclass(frozen=True, slots=True)
class _ToolUseClaim:
    """A way of looking: how it is spoken of, and which part of a tool's name would make it true."""

    name: str
    wording: str
    tools: tuple[str, ...]

    def pattern(self) -> re.Pattern[str]:
        return re.compile(
            rf"(?:{_LOOKING_VERBS}\s[^.!?\n]{{0,40}}?(?:{self.wording})|(?:{self.wording})[^.!?\n]{{0,30}}?\b{_CONFIRMING_VERBS}"
            rf"|(?:according to|based on|from) (?:(?:an?|the|my|our) )?(?:{self.wording}))",
            re.IGNORECASE,
        )


_TOOL_USES = (
    _ToolUseClaim(
        "a satellite picture",
        r"(?:satellite|aerial|orbital)[ -]?(?:view|image|imagery|picture|photo|map|tile|shot)?s?",
        ("satellite", "aerial"),
    ),
    _ToolUseClaim(
        "street-level imagery",
        r"street[ -]?view|mapillary|street-level (?:imagery|photos?|pictures?)",
        ("street",),
    ),
    _ToolUseClaim(
        "a map",
        r"google maps?|openstreetmap|osm|amap|gaode|(?:the|a) (?:static |road |street |city )?map|maps",
        ("map", "poi", "geocode"),
    ),
    _ToolUseClaim(
        "a web search",
        r"web search|online search|searching? (?:online|the web|the internet)|search (?:results?|engine)|google search"
        r"|a quick search|googled",
        ("search",),
    ),
    _ToolUseClaim(
        "an image search",
        r"reverse[ -]image[ -]search|image search|google lens|similar (?:images|photos|pictures) online",
        ("image_search", "lens"),
    ),
)
_TOOL_USE_PATTERNS = tuple((source, source.pattern()) for source in _TOOL_USES)
_TOOL_USE_MENTION = re.compile("|".join(source.wording for source in _TOOL_USES), re.IGNORECASE)
# one of these is in all that `_TOOL_USE_MENTION` finds; most texts have none, and looking for them takes a twentieth
_MENTION_PARTS = ("satell", "aer", "orb", "view", "level", "map", "osm", "gaode", "search", "google", "lens", "onl")


def phantom_tool_use(trajectory: Trajectory) -> Iterator[str]:
    """Looks that are claimed in the text or the listed claims but were never taken; each kind once."""
    texts = [turn.text for turn in trajectory.turns]
    if trajectory.best is not None:
        texts += [claim.text for claim in trajectory.best.claims] + [trajectory.best.reasoning]
    if not (texts := [text for text in texts if _mentions_tool_use(text)]):
        return
    calls = {call.name.lower() for turn in trajectory.turns for call in turn.calls}
    for source, pattern in _TOOL_USE_PATTERNS:
        called = any(part in name for name in calls for part in source.tools)
        if not called and any(_is_claimed(pattern, text) for text in texts):
            yield f"says it looked at {source.name}, but called no tool for that"


def _mentions_tool_use(text: str) -> bool:
    folded = text.casefold()
    return any(part in folded for part in _MENTION_PARTS) and _TOOL_USE_MENTION.search(text) is not None


def _is_claimed(pattern: re.Pattern[str], text: str) -> bool:
    for match in pattern.finditer(text[:20_000]):
        if not _INTENTION.search(text[max(0, match.start() - 60) : match.start()]):
            return True
    return False
