"""A corpus of released behaviour: one folder a system with `prompts.json` and rows in JSON lines, and `eval.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tts.errors import ConfigError

Row = Mapping[str, Any]

FILES = ("tools", "turns", "rewards")
READERS = "readers"
SAMPLING = "sampling"


_TRAINING_SETTINGS = frozenset({"lr", "kl_loss", "train_batch_size", "epochs"})
SERVED: Mapping[str, Mapping[str, frozenset[str]]] = {
    "geoagent": {"inference": frozenset()},
    "geovista": {"eval": frozenset()},
    "reverse": {
        "eval": frozenset(),
        "eval_limits": frozenset(),
        "eval_photo": frozenset(),
        "eval_crop": frozenset(),
        "rl": _TRAINING_SETTINGS,
    },
    "thinking_with_map": {
        "validation_in_training": frozenset(),
        "released_test_script": frozenset(),
        "limits": frozenset(),
        "photo": frozenset(),
        "verifier": frozenset(),
        "demo": frozenset(),
    },
}
"""Sections of `sampling.json` that say how a model is asked, without the names in them that only training has. What
tools return and what rewards weigh is compared by the rows of both; how a model was trained concerns nobody here."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The folder and what is read from it. Missing files have no rows."""

    folder: Path

    def systems(self) -> list[str]:
        """The systems that have at least one file of rows, by name."""
        folders = [path for path in self.folder.iterdir() if path.is_dir()]
        return sorted(path.name for path in folders if any((path / f"{file}.jsonl").is_file() for file in FILES))

    def rows(self, system: str, file: str) -> list[Row]:
        """Rows of one file of a system, `sampling` made from its JSON and the verifier's example; [] when missing."""
        if file == SAMPLING:
            rows = sampling_rows(system, self.other_file(system, SAMPLING))
            example = self.texts(system).get("verifier", {}).get("example")
            name = "verifier/example"
            shown = {"id": f"{system}/{SAMPLING}/{name}", "name": name, "value": example, "note": ""}
            return [*rows, shown] if example else rows
        return _read_rows(self.folder / system / f"{file}.jsonl")

    def reader_rows(self) -> list[Row]:
        """Rows of `eval.jsonl`, which belong to no system."""
        return _read_rows(self.folder / "eval.jsonl")

    def texts(self, system: str) -> Mapping[str, Any]:
        """`prompts.json` of a system: the texts that the project does not ship. Empty when there is none."""
        return _read_object(self.folder / system / "prompts.json")

    def other_file(self, system: str, name: str) -> Mapping[str, Any]:
        """Another JSON file of a system, such as `cache_schema`. Empty when there is none."""
        return _read_object(self.folder / system / f"{name}.json")


def sampling_rows(system: str, values: Mapping[str, Any]) -> list[Row]:
    """The values of `sampling.json` that concern serving, one a row, by their place: `eval/temperature`."""
    sections = SERVED.get(system, {})
    return [
        {"id": f"{system}/{SAMPLING}/{section}/{name}", "name": f"{section}/{name}", "value": value, "note": note}
        for section, left_out in sections.items()
        for name, value, note in _named_values(values.get(section, {}), "")
        if name not in left_out
    ]


def _named_values(node: Mapping[str, Any], within: str) -> Iterator[tuple[str, Any, str]]:
    for key, value in node.items():
        name = f"{within}{key}"
        if key in ("note", "where"):
            continue
        if not isinstance(value, dict):
            yield name, value, ""
        elif not isinstance(value.get("value", {}), dict):
            yield name, value["value"], value.get("note", "")
        else:
            yield from _named_values(value.get("value", value), f"{name}/")


def open_corpus(folder: Path) -> Corpus:
    """Raises ConfigError when the folder holds no system."""
    corpus = Corpus(folder)
    if not folder.is_dir() or not corpus.systems():
        raise ConfigError(f"{folder} is no corpus: it has no folder with {', '.join(f'{f}.jsonl' for f in FILES)}")
    return corpus


def _read_rows(path: Path) -> list[Row]:
    if not path.is_file():
        return []
    return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def _read_object(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    found: Mapping[str, Any] = orjson.loads(path.read_bytes())
    return found
