"""Event streams: which frames go together, and that nothing is lost or waits for it."""

import asyncio
from contextlib import nullcontext

import pytest

from deployments.http.event_stream import AttendedStream, event_stream
from deployments.runstore import LogEntry
from tts.api.sse_frame import HEARTBEAT, sse_frame
from tts.errors import FatalError


class LogInPages:
    """Follows a log whose entries come in pages; None is a heartbeat, an error ends it."""

    def __init__(self, pages):
        self._pages = pages
        self.closed = False
        self.given = 0

    async def follow(self, request_id, *, after=0):
        try:
            for page in self._pages:
                await asyncio.sleep(0.01)
                for item in page:
                    if isinstance(item, Exception):
                        raise item
                    self.given += 1
                    yield item
        finally:
            self.closed = True


ENTRIES = [LogEntry(seq, "text", b'{"seq":%d}' % seq) for seq in range(1, 201)]
FRAMES = [sse_frame(entry.seq, entry.kind, entry.payload) for entry in ENTRIES]


def open_stream(log, media_type="text/event-stream"):
    response = event_stream(log, "loc_1", media_type, attended=nullcontext(), headers={})
    assert isinstance(response, AttendedStream)
    return response.body_iterator


async def test_frames_that_are_there_at_once_are_one_chunk():
    chunks = [chunk async for chunk in open_stream(LogInPages([ENTRIES[:2], [ENTRIES[2]], [None]]))]
    assert chunks == [FRAMES[0] + FRAMES[1], FRAMES[2], HEARTBEAT]


async def test_a_long_log_arrives_whole_in_chunks_of_bounded_size():
    chunks = [chunk async for chunk in open_stream(LogInPages([ENTRIES]))]
    assert b"".join(chunks) == b"".join(FRAMES)
    assert max(chunk.count(b"\n\n") for chunk in chunks) <= 16


async def test_lines_come_before_the_error_that_ends_their_stream():
    chunks = []
    with pytest.raises(FatalError):
        async for chunk in open_stream(LogInPages([[*ENTRIES[:2], FatalError("lost")]]), "application/x-ndjson"):
            chunks.append(chunk)
    assert b"".join(chunks) == b'{"seq":1}\n{"seq":2}\n'


async def test_a_reader_that_leaves_closes_the_log():
    log = LogInPages([ENTRIES[:1], ENTRIES[1:2]])
    stream = open_stream(log)
    assert await anext(stream) == FRAMES[0]
    await stream.aclose()
    assert log.closed


async def test_a_reader_that_stalls_leaves_all_but_a_few_frames_in_the_log():
    log = LogInPages([ENTRIES])
    stream = open_stream(log)
    await anext(stream)
    await asyncio.sleep(0.05)
    assert log.given <= 16 * 3
    await stream.aclose()
