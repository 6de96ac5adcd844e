"""Makes the files of a bundle from the event log.

`events.ndjson` is the log as it was sent. `manifest.json` has the SHA-256 of every file and the end of the hash chain
over the events; its own SHA-256 is the root hash of the bundle. The tape and the answer are derived from the events.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import orjson
from pydantic import Field, JsonValue

from tts.domain.answer import Answer
from tts.domain.events import Event, ToolCalled, ToolResulted, parse_event
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall
from tts.domain.value import Value
from tts.errors import DataError
from tts.ports.toolbox import ToolContext, ToolOutcome
from tts.toolkit.tape.row import TapeHead, TapeRow

VERSION = 1
EVENTS = "events.ndjson"
ANSWER = "answer.json"
TAPE = "tape.jsonl"
REPLAY = "replay.json"
REPORT = "report.html"
MANIFEST = "manifest.json"
SIGNATURE = "signature.json"
_JSON_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


class Replay(Value):
    """What the verifier was given besides the trajectories. `calibration` is the table behind radii and confidence.

    `verifier` names it; only the consensus can be replayed. `method` is how photos were rated: `fixed` reads none.
    `questions`: how many calls the verifier might make; those that it made are in the events.
    `sources`: how reliable each of several models is, where that was known.
    """

    verifier: str
    method: str
    dialect: str
    options: dict[str, JsonValue]
    calibration: dict[str, JsonValue]
    state: dict[str, JsonValue]
    notes: tuple[str, ...] = ()
    questions: int = Field(default=0, exclude_if=lambda questions: questions == 0)
    sources: dict[str, JsonValue] = Field(default={}, exclude_if=lambda sources: not sources)


def entries_of(
    events: Sequence[bytes], photos: Mapping[str, bytes], files: Mapping[str, bytes], replay: Replay, report: str
) -> dict[str, bytes]:
    """The files of a bundle. `events` are the lines of the log; photos and files are by their SHA-256.

    Raises:
        DataError: the log has no answer, or its events cannot be read.
    """
    entries = {EVENTS: b"".join(line + b"\n" for line in events), REPORT: report.encode()}
    entries[REPLAY] = orjson.dumps(replay.jsonable(), option=_JSON_OPTIONS)
    entries |= {f"photos/{sha256}.jpg": data for sha256, data in photos.items()}
    entries |= {f"files/{sha256}": data for sha256, data in files.items()}
    return entries | derive_files(entries)


def derive_files(entries: Mapping[str, bytes]) -> dict[str, bytes]:
    """Answer, tape and manifest as they follow from the other files. Raises DataError."""
    lines = _lines(entries)
    log = _events(lines)
    made = {ANSWER: answer_of(log).json_bytes() + b"\n", TAPE: _tape(log)}
    given = {name: data for name, data in entries.items() if name not in (ANSWER, TAPE, MANIFEST, SIGNATURE)}
    return {**made, MANIFEST: _manifest({**given, **made}, lines, log)}


def events_in(entries: Mapping[str, bytes]) -> list[Event]:
    """The event log of a bundle. Raises DataError."""
    return _events(_lines(entries))


def answer_of(log: Sequence[Event]) -> Answer:
    """Raises DataError where a log has no answer."""
    for event in log:
        if event.type == "answer":
            return event.answer
    raise DataError("there is no answer to bundle: the request failed, was cancelled, or still runs")


def chain_end(lines: Sequence[bytes]) -> str:
    """The last link of the chain: each is the SHA-256 of the link before it (32 bytes, zeros at first) and an event."""
    link = bytes(32)
    for line in lines:
        link = hashlib.sha256(link + hashlib.sha256(line).digest()).digest()
    return link.hex()


def root_hash(entries: Mapping[str, bytes]) -> str:
    """The SHA-256 of the manifest, and so of everything."""
    return hashlib.sha256(entries.get(MANIFEST, b"")).hexdigest()


def _lines(entries: Mapping[str, bytes]) -> list[bytes]:
    raw = entries.get(EVENTS, b"")
    if not raw.endswith(b"\n"):
        raise DataError(f"{EVENTS} is not there, or is cut off")
    return raw[:-1].split(b"\n")


def _events(lines: Sequence[bytes]) -> list[Event]:
    try:
        return [parse_event(line) for line in lines]
    except ValueError as error:
        raise DataError(f"{EVENTS} holds what is no event of this version") from error


def _tape(log: Sequence[Event]) -> bytes:
    """The tool calls with their results, as `geotts tape` reads them. Nothing in it says which rollout asked."""
    photos = tuple(photo.sha256 for event in log if event.type == "accepted" for photo in event.photos)
    context = ToolContext(RequestContext(id="bundle", remaining_s=1.0), photo_sha256=photos)
    calls: dict[tuple[int, str], ToolCall] = {}
    rows: dict[str, TapeRow] = {}
    for event in log:
        if isinstance(event, ToolCalled):
            calls[event.rollout_id, event.call.id] = event.call
        elif isinstance(event, ToolResulted):
            call = calls.get((event.rollout_id, event.result.call_id))
            if call is not None:
                row = TapeRow.from_outcome(call, context, ToolOutcome(event.result))
                rows.setdefault(row.key, row)
    return b"".join(value.json_bytes() + b"\n" for value in (TapeHead(), *rows.values()))


def _manifest(entries: Mapping[str, bytes], lines: Sequence[bytes], log: Sequence[Event]) -> bytes:
    accepted = next((event for event in log if event.type == "accepted"), None)
    if accepted is None:
        raise DataError("the log does not begin with `accepted`")
    made = answer_of(log).provenance
    manifest = {
        "bundle": VERSION,
        "request_id": accepted.request_id,
        "original_sha256": [photo.source_sha256 for photo in accepted.photos],
        "photo_sha256": [photo.sha256 for photo in accepted.photos],
        "version": made.version,
        "data_versions": made.data_versions,
        "events": {"count": len(lines), "chain_sha256": chain_end(lines)},
        "files": {
            name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in entries.items()
        },
    }
    return orjson.dumps(manifest, option=_JSON_OPTIONS)
