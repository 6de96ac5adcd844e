"""Toolboxes with a tape: one records the results of another toolbox, one replays a recording.

A call that is already on the tape is answered from it while recording, too: so the recorded run gets exactly the same
results as a replay, in any order of the calls.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from pathlib import Path

from pydantic import ValidationError

from tts.domain.tooling import ToolCall
from tts.erasure.erased_names import ErasedNames
from tts.erasure.line_erasure import blank_lines
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import Toolbox, ToolContext, ToolOutcome, ToolSchema
from tts.private_files import make_private
from tts.toolkit.tape.file import Tape, read_tape
from tts.toolkit.tape.row import TapeHead, TapeRow, row_key
from tts.toolkit.toolbox import failure_outcome


class RecordingToolbox:
    """Records what another toolbox answers, one line a call.

    Args:
        inner: the toolbox that answers the calls which are not on the tape.
        path: the file of the tape. If it is there, its rows are used and further ones are added.

    Raises:
        DataError: the file at `path` is no tape, or one of another version.
    """

    def __init__(self, inner: Toolbox, path: Path) -> None:
        self._inner = inner
        self._rows: dict[str, TapeRow] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._path = path
        self._erased_names = ErasedNames()
        self._open_tape()

    def schemas(self) -> tuple[ToolSchema, ...]:
        """Those of `inner`."""
        return self._inner.schemas()

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """Answer from the tape, or ask `inner` and write that down. The same call waits while one is under way."""
        key = row_key(call, context)
        async with self._locks[key]:
            row = self._rows.get(key)
            if row is None:
                mark = self._erased_names.mark()
                row = TapeRow.from_outcome(call, context, await self._inner.call(call, context))
                if not self._erased_names.was_erased_since(mark, row.photos):
                    self._rows[key] = row
                    self._write(row.json_bytes())
        return row.replay(call)

    async def forget(self, photo_sha256: str) -> int:
        """Erase every call about a photo from the tape.

        Args:
            photo_sha256: the hash of the photo, as in `TapeRow.photos`; a call under way about it is not recorded.

        Returns:
            How many lines of the file were erased.

        Raises:
            OSError: the file cannot be written: the lines may still be there.
        """
        self._erased_names.add(photo_sha256)
        self._rows = {key: row for key, row in self._rows.items() if photo_sha256 not in row.photos}
        name = photo_sha256.encode()
        return await asyncio.to_thread(
            blank_lines, self._path, lambda line: name in line and _is_about(line, photo_sha256)
        )

    def _open_tape(self) -> None:
        """Take over the rows that are there; end a line that a killed run left torn."""
        make_private(self._path)
        if self._path.is_file() and self._path.stat().st_size > 0:
            self._rows = {row.key: row for row in read_tape(self._path).rows}
            self._write(b"")
        else:
            self._write(TapeHead(schemas=self._inner.schemas()).json_bytes())

    def _write(self, line: bytes) -> None:
        """One write a line, so that several processes may append to one tape."""
        with self._path.open("ab", buffering=0) as file:
            file.write(line + b"\n")


def _is_about(line: bytes, photo_sha256: str) -> bool:
    try:
        return photo_sha256 in TapeRow.model_validate_json(line).photos
    except ValidationError:
        return False


class ReplayToolbox:
    """Answers from a tape.

    Args:
        tape: the recorded calls; of several with one key, the last one is replayed.
        misses: answers the calls that are not on the tape; None: they fail with NOT_FOUND.
    """

    def __init__(self, tape: Tape, misses: Toolbox | None = None) -> None:
        self._rows = {row.key: row for row in tape.rows}
        self._schemas = tape.head.schemas
        self._misses = misses
        self.hits = 0
        self.missed = 0

    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools as they were when the tape was recorded; those of `misses` are not among them."""
        return self._schemas

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """Counts `hits` and `missed`. A call that neither the tape nor `misses` has fails with NOT_FOUND."""
        row = self._rows.get(row_key(call, context))
        if row is not None:
            self.hits += 1
            return row.replay(call)
        self.missed += 1
        if self._misses is not None and call.name in {schema.name for schema in self._misses.schemas()}:
            return await self._misses.call(call, context)
        return failure_outcome(call, ToolError("nothing is recorded for this call", kind=ToolErrorKind.NOT_FOUND))
