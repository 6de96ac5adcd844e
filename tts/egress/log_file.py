"""The egress log: what left the machine, when, to which receiver, for which request, in the file `tools.outgoing_log`.

A process of tools writes a line when a tool sends something; the lines of engines are written when a request ends. A
call that is answered from the cache sends nothing, so the log does not have it. The lines of a request are erased with
it; later lines of an erased request are not written. Expired lines are erased too. The operator rotates the file.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from tts.domain.outgoing_request import Outgoing, rfc3339
from tts.egress.records import EGRESS
from tts.erasure.erased_names import ErasedNames
from tts.erasure.line_erasure import blank_from, blank_lines
from tts.private_files import make_private

_TIME_FIELD = re.compile(rb'"at":"([^"]*)"')
_BLANK_BYTES = b" \n"
_MAX_WRITE_DELAY = timedelta(hours=1)  # longer than any request may take: what others sent is noted when it ends
_log = logging.getLogger(__name__)


class EgressLog:
    """Called with each request that leaves.

    Args:
        path: a JSONL file that is appended to, one line a request; None for no file.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._erased_names = ErasedNames()
        self._sweep = _Sweep()

    def __call__(self, outgoing: Outgoing) -> None:
        """Record and write what a tool sends now, unless its request was erased. A file that cannot be written is only
        logged."""
        if not self._erased_names.was_erased_since(0, [outgoing.request_id]):
            EGRESS.record(outgoing, in_file=self._path is not None)
            self.write([outgoing])

    def write(self, requests: Sequence[Outgoing]) -> None:
        """Into the file only: what others sent and recorded.

        Args:
            requests: in any order; those whose request was erased are left out. They are lost if the file cannot be
                written, which is only logged.
        """
        lines = [
            one.json_bytes() + b"\n" for one in requests if not self._erased_names.was_erased_since(0, [one.request_id])
        ]
        if self._path is None or not lines:
            return
        self._sweep.expect(min(one.at for one in requests))
        try:
            make_private(self._path)
            with self._path.open("ab") as file:
                file.write(b"".join(lines))
        except OSError:
            _log.warning("the egress log cannot be written")

    async def forget(self, request_id: str) -> int:
        """Erase what is written of a request.

        Args:
            request_id: the request; later lines of it are not written.

        Returns:
            How many lines of the file were erased; 0 without a file.

        Raises:
            OSError: the file cannot be written: the lines may still be there.
        """
        self._erased_names.add(request_id)
        if self._path is None:
            return 0
        name = request_id.encode()
        return await asyncio.to_thread(
            blank_lines, self._path, lambda line: name in line and _is_of_request(line, request_id)
        )

    async def purge(self, older_than_s: float) -> None:
        """Erase what is older from the file.

        Args:
            older_than_s: the age from which lines are erased, in seconds.

        Raises:
            OSError: the file cannot be written: the lines may still be there.
        """
        if self._path is not None:
            oldest = datetime.now(UTC) - timedelta(seconds=older_than_s)
            await asyncio.to_thread(self._sweep, self._path, oldest)


class _Sweep:
    """Blanks the lines of a file that are past their time, and does not read again what it knows to be blank.

    Lines are nearly in the order of time: none is later in the file than `_delay` after its time, so nothing behind a
    line which is younger than that can be due. The first sweep reads everything: who wrote before is not known.
    """

    def __init__(self) -> None:
        self._delay = _MAX_WRITE_DELAY
        self._blank_end = 0
        self._is_first = True

    def expect(self, at: str) -> None:
        """A line of this time is being written now."""
        self._delay = max(self._delay, datetime.now(UTC) - datetime.fromisoformat(at))

    def __call__(self, path: Path, oldest: datetime) -> None:
        """Raises OSError."""
        if not path.is_file():
            return
        with path.open("r+b") as file:
            file.seek(max(0, self._blank_end - len(_BLANK_BYTES)))
            if file.read(len(_BLANK_BYTES)) != _BLANK_BYTES:
                self._blank_end = 0  # another file: the operator has cut it or put this one in its place
            due, young = rfc3339(oldest).encode(), rfc3339(oldest + self._delay).encode()
            enough = None if self._is_first else partial(_is_since, young)
            self._blank_end = blank_from(
                file, self._blank_end, lambda line: not _is_since(due, line), enough=enough
            ).kept_from
            self._is_first = False


def _is_since(moment: bytes, line: bytes) -> bool:
    """Whether a line tells of that moment or a later one. One that was cut off and tells no time does not."""
    times = _TIME_FIELD.findall(line)
    return bool(times) and max(times) >= moment


def _is_of_request(line: bytes, request_id: str) -> bool:
    try:
        return Outgoing.model_validate_json(line).request_id == request_id
    except ValidationError:
        return False
