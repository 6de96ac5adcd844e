"""The project's word lists (`tts/data/scenes/words.yaml`): what signs say, in two splits that share no word."""

from __future__ import annotations

import importlib.resources
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import yaml

from tts.errors import DataError

Split = Literal["dev", "held_out"]
SPLITS: tuple[Split, ...] = ("dev", "held_out")


@dataclass(frozen=True, slots=True)
class Words:
    """One language, one split. `hours` stands on dev door notes only, `rent` on held-out posters only."""

    shop: tuple[str, ...]
    public: tuple[str, ...]
    notice: tuple[str, ...]
    goods: tuple[str, ...]
    street: tuple[str, ...]
    hours: str = ""
    rent: str = ""


def words_for(language: str, split: Split) -> Words:
    """Raises DataError when the language has no list."""
    lists = _load_lists().get(language)
    if lists is None:
        raise DataError(f"there are no words for {language!r}; there are: {', '.join(_load_lists())}")
    return lists[split]


@lru_cache(maxsize=1)
def _load_lists() -> dict[str, dict[str, Words]]:
    text = importlib.resources.files("tts").joinpath("data/scenes/words.yaml").read_text(encoding="utf-8")
    tree = yaml.safe_load(text)["languages"]
    return {language: {split: _make_words(lists[split]) for split in SPLITS} for language, lists in tree.items()}


def _make_words(lists: dict[str, Any]) -> Words:
    fields: dict[str, Any] = {kind: tuple(words) if isinstance(words, list) else words for kind, words in lists.items()}
    return Words(**fields)
