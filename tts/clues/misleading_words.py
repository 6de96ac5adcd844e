"""Words beside which a name or a line says little about where a photo was taken. The data is in
`tts/data/misleading.yaml`."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import yaml

from tts.errors import DataError
from tts.geodata.names import normalise, script_of

_VERSION = 1
_UNSPACED_SCRIPTS = frozenset({"Hani", "Jpan", "Thai", "Laoo", "Khmr", "Mymr"})
_PARTICLE = re.compile(r" (?:d[aeiou]s?|del|della|dell|des|der|den|dem|of|the|von|van|al|el|la|las|les|los|le)$")


@dataclass(frozen=True, slots=True)
class MisleadingWords:
    """Words as they are compared (`normalise`). `food` is by language; `names` are the words of food and of shops."""

    street_before: frozenset[str]
    street_after: frozenset[str]
    food: Mapping[str, frozenset[str]]
    names: frozenset[str]

    @property
    def unspaced_before(self) -> tuple[str, ...]:
        """The words before a name in scripts that put no space between them."""
        return _unspaced_words(self.street_before)

    @property
    def unspaced_after(self) -> tuple[str, ...]:
        """The same of the words after a name."""
        return _unspaced_words(self.street_after)


@lru_cache(maxsize=1)
def misleading_words() -> MisleadingWords:
    """The shipped words. Raises DataError when the file is of another version."""
    text = importlib.resources.files("tts").joinpath("data/misleading.yaml").read_text(encoding="utf-8")
    raw = yaml.safe_load(text)
    if raw["version"] != _VERSION:
        raise DataError("data/misleading.yaml is of another version than this code: reinstall GeoTTS")
    food = {tag: _normalised_words(words) for tag, words in raw["food"].items()}
    return MisleadingWords(
        street_before=_normalised_words(word for words in raw["street_before"].values() for word in words),
        street_after=_normalised_words(word for words in raw["street_after"].values() for word in words),
        food=food,
        names=_normalised_words(raw["shops"]).union(*food.values()),
    )


@lru_cache(maxsize=2)
def _unspaced_words(words: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(word for word in words if script_of(word) in _UNSPACED_SCRIPTS))


def _normalised_words(words: Iterable[str]) -> frozenset[str]:
    return frozenset(normalise(word) for word in words)


def names_a_street(text: str, start: int, end: int) -> bool:
    """Whether a word for street stands right before or after the name `text[start:end]`, or begins or ends it."""
    words = misleading_words()
    before, name, after = (normalise(part) for part in (text[:start], text[start:end], text[end:]))
    first, _, rest = name.partition(" ")
    if rest and (first in words.street_before or name.rpartition(" ")[2] in words.street_after):
        return True
    stem = _PARTICLE.sub("", f" {before}").strip()
    if script_of(text[start:end]) in _UNSPACED_SCRIPTS:
        return after.startswith(words.unspaced_after) or stem.endswith(words.unspaced_before)
    following = after.split()[:1]
    return bool(_last_words(stem) & words.street_before) or (bool(following) and following[0] in words.street_after)


def _last_words(text: str) -> set[str]:
    """The last word of a text, and its last two."""
    parts = text.split()
    return {" ".join(parts[-count:]) for count in (1, 2) if len(parts) >= count}


def sells_food_or_names_a_shop(text: str, start: int, end: int, lines: Iterable[str] = ()) -> bool:
    """Whether a word of a shop, an inn or food stands in the rest of the line of a name, or food in `lines` beside
    it."""
    rest = f"{text[:start]} {text[end:]}"
    names = misleading_words().names
    return bool(_phrases(rest) & names) or any(cuisines(line) for line in lines)


@lru_cache(maxsize=4096)
def cuisines(text: str) -> frozenset[str]:
    """Languages (BCP 47 primary tags) in which a line names food or drink that is also called so abroad."""
    phrases = _phrases(text)
    return frozenset(tag for tag, words in misleading_words().food.items() if phrases & words)


def _phrases(text: str) -> frozenset[str]:
    """One and two words of a text that stand together, as they are compared."""
    words = normalise(text).split()
    return frozenset(words) | frozenset(f"{one} {other}" for one, other in pairwise(words))
