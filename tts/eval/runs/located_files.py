"""Reads the sources of an export: replies, lines of `geotts locate --json`, event logs, run files, folders of them.

What a line is, its own fields say: an event has `seq`, a record has `dataset`, anything else is a reply.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from tts.domain.answer import Answer
from tts.domain.events import Event, parse_event
from tts.domain.trajectory import Run, Trajectory, fold
from tts.errors import DataError
from tts.eval.runs.record import read_records
from tts.export.export_source import LocatedPhoto, located_from

SUFFIXES = (".json", ".jsonl", ".ndjson")


def read_located(path: Path) -> list[LocatedPhoto]:
    """All requests of a file, or of the files of a folder (at any depth, in order).

    Raises:
        DataError: it holds none, or something that is none; names the file and what is wrong.
    """
    if not path.is_dir():
        return _photos_of_file(path)
    files = sorted(one for one in path.rglob("*") if one.suffix in SUFFIXES and one.is_file())
    if not files:
        raise DataError(f"{path} holds no file that ends in {', '.join(SUFFIXES)}")
    return [item for file in files for item in _photos_of_file(file)]


def _photos_of_file(path: Path) -> list[LocatedPhoto]:
    if path.suffix.lower() == ".parquet":
        return [_photo_of_record(record) for record in read_records(path)]
    objects = list(_objects(path))
    try:
        if "seq" in objects[0] and "type" in objects[0]:
            return _photos_of_events(path, objects)
        if "dataset" in objects[0]:
            return [_photo_of_record(record) for record in read_records(path)]
        return [_photo_of_reply(path, number, one) for number, one in enumerate(objects, 1)]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{path} holds no answers of GeoTTS: {where} {first['msg']}") from error


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file: one in all of it, or one a line. At least one."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    try:
        parts = [orjson.loads(raw)]
    except orjson.JSONDecodeError:
        try:
            parts = [orjson.loads(line) for line in raw.splitlines() if line.strip()]
        except orjson.JSONDecodeError as error:
            raise DataError(f"{path} holds no JSON: {error.msg}") from error
    if not parts or not all(isinstance(part, dict) for part in parts):
        raise DataError(f"{path} holds no answers of GeoTTS: expected JSON objects")
    yield from parts


def _photos_of_events(path: Path, objects: list[dict[str, Any]]) -> list[LocatedPhoto]:
    """One event log, or several one after the other: each begins with `accepted`."""
    logs: list[list[Event]] = []
    for one in objects:
        event = parse_event(orjson.dumps(one))
        if event.type == "accepted" or not logs:
            logs.append([])
        logs[-1].append(event)
    several = len(logs) > 1
    return [located_from(f"{path.stem}-{n}" if several else path.stem, fold(log)) for n, log in enumerate(logs, 1)]


def _photo_of_record(record: Any) -> LocatedPhoto:
    run = (record.run or Run()).model_copy(update={"answer": record.answer})
    return located_from(record.key or record.sample, run).model_copy(update={"failure": record.failure})


def _photo_of_reply(path: Path, number: int, reply: dict[str, Any]) -> LocatedPhoto:
    """`LocateResponse`, `RunStatus`, a line of `geotts locate --json`, or an answer alone."""
    name = str(reply.get("photo") or (path.stem if number == 1 else f"{path.stem}-{number}"))
    raw_answer: Any = reply.get("answer", reply if "abstained" in reply else None)
    if raw_answer is None:
        problem: Any = reply.get("error") or reply.get("problem") or {}
        failure = str(problem.get("detail", "it has no answer")) if isinstance(problem, dict) else "it has no answer"
        if not problem and "request_id" not in reply:
            raise DataError(f"{path}, object {number} is no answer of GeoTTS")
        return LocatedPhoto(name=name, request_id=str(reply.get("request_id", "")), failure=failure)
    answer = Answer.model_validate_json(orjson.dumps(raw_answer))
    rollouts = [Trajectory.model_validate_json(orjson.dumps(one)) for one in reply.get("trajectories", ())]
    run = Run(answer=answer, rollouts={one.rollout_id: one for one in rollouts})
    return LocatedPhoto(name=name, request_id=str(reply.get("request_id", "")), answer=answer, run=run)
