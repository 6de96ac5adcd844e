"""The same event as a frame of a stream of server-sent events, and as a line of NDJSON."""

from tts.api.sse_frame import HEARTBEAT, ndjson_line, parse_sse, sse_frame
from tts.domain.events import Done

DONE = Done(seq=7, stop_reason="answered")


async def lines_of(stream):
    for line in stream.decode().split("\n"):
        yield line


async def test_a_frame_is_read_as_the_event_that_was_written_and_heartbeats_are_skipped():
    frame = sse_frame(DONE.seq, DONE.type, DONE.json_bytes())
    assert frame.startswith(b"id: 7\nevent: done\ndata: {")
    assert [event async for event in parse_sse(lines_of(HEARTBEAT + frame + HEARTBEAT))] == [DONE]


def test_a_line_of_ndjson_has_one_end_of_line():
    line = ndjson_line(DONE.json_bytes())
    assert (line.count(b"\n"), line[-1:]) == (1, b"\n")
