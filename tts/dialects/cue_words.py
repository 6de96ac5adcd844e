"""Finds the kinds of cues in the text of a first turn, by the words that models use for them.

English and Chinese: the languages in which the served models reason. A kind that is only said to be absent ("no text is
visible") does not count. This reads what a model says, it does not judge whether it is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeVar

from tts.domain.cues import Cues, ExplicitCue, ImplicitCue

_Kind = TypeVar("_Kind", ExplicitCue, ImplicitCue)

_EXPLICIT_CUES: Final[dict[ExplicitCue, str]] = {
    "text": (
        r"(?:sign(?:s|board|age)?|text|lettering|inscription|plaque|banner|billboard|logo|licen[cs]e plates?|plates?"
        r"|phone number|website|storefront|written|reads|labelled|labeled)\b|招牌|文字|车牌|路牌|标志|字样"
    ),
    "landmark": (
        r"(?:landmark|monument|cathedral|basilica|skyline|famous|iconic|unmistakabl[ey]|well-known|recogni[sz]able"
        r"|memorial|statue|flag)\b|地标|著名|标志性|国旗"
    ),
}
_IMPLICIT_CUES: Final[dict[ImplicitCue, str]] = {
    "vegetation": r"(?:vegetation|trees?|palms?|pines?|grass(?:land)?|shrubs?|foliage|forest|crops?|plants?)\b|植被|树",
    "road_furniture": (
        r"(?:road markings?|lane markings?|bollards?|guard ?rails?|utility poles?|power lines?|poles|kerbs?|curbs?"
        r"|left side|right side|asphalt|pavement|traffic lights?|street ?lights?)\b|电线杆|护栏|道路标线"
    ),
    "light": r"(?:sunlight|shadows?|sun angle|climate|weather|humid|arid|tropical|snow)\b|阳光|气候|阴影",
    "architecture": r"(?:architecture|facades?|roofs?|buildings?|houses?|brick(?:work)?|bricks)\b|建筑|房屋",
}
_NEGATION: Final = re.compile(
    r"(?:\bno|\bnot|\bwithout|\black(?:s|ing)?|\babsen(?:t|ce)|n['’]t|\bneither|\bnor|\bnone|没有|无)[^.;:!?。；]{0,48}$"
)
# for text in lower case: `re` finds a word in half the time where it need not ignore the case
_EXPLICIT_CUE_PATTERNS: Final = {kind: re.compile(rf"\b{words}") for kind, words in _EXPLICIT_CUES.items()}
_IMPLICIT_CUE_PATTERNS: Final = {kind: re.compile(rf"\b{words}") for kind, words in _IMPLICIT_CUES.items()}


def cues_in(text: str) -> Cues:
    """The kinds of cues a text goes by."""
    text = text.lower()
    return Cues(
        explicit=_cues_in(_EXPLICIT_CUE_PATTERNS.items(), text), implicit=_cues_in(_IMPLICIT_CUE_PATTERNS.items(), text)
    )


def _cues_in(kinds: Iterable[tuple[_Kind, re.Pattern[str]]], text: str) -> tuple[_Kind, ...]:
    return tuple(kind for kind, words in kinds if _is_present(words, text))


def _is_present(words: re.Pattern[str], text: str) -> bool:
    """Said of the photo at least once where the words before it in the sentence do not say that it is missing."""
    return any(not _NEGATION.search(text[max(0, found.start() - 60) : found.start()]) for found in words.finditer(text))
