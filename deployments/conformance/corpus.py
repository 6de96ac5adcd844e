"""A corpus of released behaviour: one folder a system with `prompts.json` and rows in JSON lines, and `eval.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tts.errors import ConfigError

Row = Mapping[str, Any]

FILES = ("tools", "turns", "rewards")
READERS = "readers"


@dataclass(frozen=True, slots=True)
class Corpus:
    """The folder and what is read from it. Missing files have no rows."""

    folder: Path

    def systems(self) -> list[str]:
        """The systems that have at least one file of rows, by name."""
        folders = [path for path in self.folder.iterdir() if path.is_dir()]
        return sorted(path.name for path in folders if any((path / f"{file}.jsonl").is_file() for file in FILES))

    def rows(self, system: str, file: str) -> list[Row]:
        return _lines(self.folder / system / f"{file}.jsonl")

    def reader_rows(self) -> list[Row]:
        return _lines(self.folder / "eval.jsonl")

    def texts(self, system: str) -> Mapping[str, Any]:
        """`prompts.json` of a system: the texts that the project does not ship. Empty when there is none."""
        return _object(self.folder / system / "prompts.json")

    def other(self, system: str, name: str) -> Mapping[str, Any]:
        """Another JSON file of a system, such as `cache_schema`. Empty when there is none."""
        return _object(self.folder / system / f"{name}.json")


def open_corpus(folder: Path) -> Corpus:
    """Raises ConfigError when the folder holds no system."""
    corpus = Corpus(folder)
    if not folder.is_dir() or not corpus.systems():
        raise ConfigError(f"{folder} is no corpus: it has no folder with {', '.join(f'{f}.jsonl' for f in FILES)}")
    return corpus


def _lines(path: Path) -> list[Row]:
    if not path.is_file():
        return []
    return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def _object(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    found: Mapping[str, Any] = orjson.loads(path.read_bytes())
    return found
