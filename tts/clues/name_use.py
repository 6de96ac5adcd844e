"""How far a word of a line is the name of a town (`tts.clues.name_frequencies` finds it out)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NameUse:
    """The share of a word's frequency that is not about a town, in [0, 1], and the languages that are spoken at the
    towns of this name."""

    word_share: float = 1.0
    languages: frozenset[str] = frozenset()

    def without_name(self, frequencies: Mapping[str, float], usual: float) -> dict[str, float]:
        """By language, what the word says about the language of a line, from its frequencies.

        A name is written everywhere, so a part of it is as frequent as usual in each language. Where the language of
        the town is spoken, the whole of it counts.
        """
        return {
            tag: value if tag in self.languages else self.word_share * value + (1.0 - self.word_share) * usual
            for tag, value in frequencies.items()
        }


NO_NAME = NameUse()
"""That of a word that is no town's name."""
