"""The journal of the scripted engine: one line for each turn that any of its processes began."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import orjson


@dataclass(frozen=True, slots=True)
class StartedTurn:
    """A turn that an engine began, as its journal has it (`ScriptedEngine.journal`).

    `at`: seconds of `time.monotonic()`. `asked`: the hint of the request, by which a client recognises its own.
    `process`: the id of the process of the engine.
    """

    at: float
    request_id: str
    rollout: int
    turn: int
    asked: str = ""
    process: int = 0


def read_journal(file: Path) -> list[StartedTurn]:
    """The turns that all engines began, in the order of their lines; empty where there is no file."""
    found = []
    for line in file.read_bytes().splitlines() if file.exists() else ():
        one = orjson.loads(line)
        request_id, _, rollout = one["session"].rpartition("/")
        asked, process = one.get("hint") or "", one.get("process", 0)
        found.append(StartedTurn(one["at"], request_id, int(rollout), one["turn"], asked, process))
    return found
