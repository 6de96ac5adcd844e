"""Tapes: exact replay, likeness where it is asked for, files that survive a kill, the REVERSE layout."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.basics import a_context
from support.dialect_rollouts import toolbox
from support.tape_runs import run

from tts.domain.geo import LatLon, distance_km
from tts.domain.photo import Box
from tts.domain.tooling import ToolCall, ToolFailure, ToolResult, WebFact
from tts.errors import DataError, ToolErrorKind
from tts.geodata.datum import to_gcj02
from tts.ports.toolbox import ToolContext, ToolOutcome
from tts.toolkit.tape.file import Tape, read_tape, write_tape
from tts.toolkit.tape.reverse_layout import export_reverse, import_reverse
from tts.toolkit.tape.row import TapeRow
from tts.toolkit.tape.similar_searches import SearchTape, likeness, tokens
from tts.toolkit.tape.tape_toolboxes import RecordingToolbox, ReplayToolbox


class Counting:
    def __init__(self, inner):
        self.inner = inner
        self.calls = 0

    def schemas(self):
        return self.inner.schemas()

    async def call(self, call, context):
        self.calls += 1
        return await self.inner.call(call, context)


async def test_recording_goes_on_where_a_killed_run_stopped(tmp_path):
    path = tmp_path / "run.tape"
    inner = Counting(toolbox())
    first = RecordingToolbox(inner, path)
    whole = await run(first, 3)
    done = inner.calls
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 40])  # torn in the middle of the last row
    second = RecordingToolbox(inner, path)
    again = await run(second, 3)
    assert inner.calls == done + 1
    assert len(again) == len(whole)
    rows = read_tape(path).rows
    assert len({row.key for row in rows}) == len(rows) == done


async def test_a_call_missing_on_the_tape_finds_nothing_or_is_made_live(tmp_path):
    path = tmp_path / "run.tape"
    live = toolbox()
    recorder = RecordingToolbox(live, path)
    await recorder.call(
        ToolCall(id="1", name="poi_keyword_search", arguments={"query": "Otaru"}), ToolContext(a_context())
    )
    miss = ToolCall(id="2", name="poi_keyword_search", arguments={"query": "Hefei"})
    empty = ReplayToolbox(read_tape(path))
    assert (await empty.call(miss, ToolContext(a_context()))).result.failure.kind is ToolErrorKind.NOT_FOUND
    filled = ReplayToolbox(read_tape(path), live)
    assert (await filled.call(miss, ToolContext(a_context()))).result.ok
    assert (filled.hits, filled.missed) == (0, 1)


@pytest.mark.parametrize(
    ("kind", "known"), [(ToolErrorKind.NOT_FOUND, True), (ToolErrorKind.UNAVAILABLE, False), (None, True)]
)
def test_a_search_that_no_engine_answered_is_not_one_without_hits(kind, known):
    assert bool(SearchTape.from_rows([an_image_search([0, 0, 1, 1], kind)]).pictures) is known


def test_a_recorded_call_with_a_box_that_no_photo_has_is_passed_over():
    rows = [an_image_search([0, 0, 2000, 2000], ToolErrorKind.INVALID_ARGUMENTS), an_image_search([0, 0, 1, 1])]
    assert [len(boxes) for boxes in SearchTape.from_rows(rows).pictures.values()] == [1]


def an_image_search(bbox, failure=None):
    call = ToolCall(id="c", name="image_search", arguments={"bbox": bbox})
    failed = None if failure is None else ToolFailure(kind=failure, detail="so it was")
    result = ToolResult(call_id="c", name="image_search", text="", failure=failed)
    return TapeRow.from_outcome(call, ToolContext(a_context(), photo_sha256=("p1",)), ToolOutcome(result))


def test_the_reverse_layout_survives_a_round_trip(tmp_path):
    tape = SearchTape()
    for i in range(5):
        hits = (WebFact(number=1, title=f"T{i}", snippet="s", url=f"https://e.org/{i}", source="Serper"),)
        tape.add_text(f"query {i}", hits)
        tape.add_picture(f"p{i % 2}", Box(x0=0.1 * i, y0=0.0, x1=0.1 * i + 0.1, y1=1.0), hits)
    export_reverse(tape, tmp_path / "a")
    back = import_reverse(tmp_path / "a")
    assert back.texts == tape.texts
    export_reverse(back, tmp_path / "b")
    for name in ("image_search.parquet", "text_search.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_recorded_fact_in_gcj02_is_read_in_wgs84(tmp_path):
    beijing = LatLon(lat=39.9042, lon=116.4074)
    native = {"kind": "place", "id": "a", "name": "a", "point": to_gcj02(beijing).jsonable(), "datum": "GCJ-02"}
    facts = [native, {**native, "point": None}, {**native, "datum": "WGS-84"}]
    row = TapeRow(key="k", name="n", arguments={}, result=ToolResult(call_id="", name="n", text=""))
    recorded = row.jsonable() | {"result": row.result.jsonable() | {"facts": facts}}
    path = tmp_path / "old.tape"
    path.write_bytes(read_tape_head().json_bytes() + b"\n" + orjson.dumps(recorded) + b"\n")
    tape = read_tape(path)
    converted, nowhere, untouched = tape.rows[0].result.facts
    assert distance_km(converted.point, beijing) < 1e-6
    assert nowhere.point is None
    assert untouched.point == to_gcj02(beijing)
    assert {fact.datum for fact in (converted, nowhere, untouched)} == {"WGS-84"}
    write_tape(tape, path)
    assert read_tape(path) == tape, "it is not converted again"


def test_a_file_that_is_no_tape_is_refused(tmp_path):
    for name, data in {"a.tape": b"hello", "b.tape": b'{"tape": 99}\n', "c.parquet": b"PAR1"}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(DataError):
            read_tape(tmp_path / name)
    with pytest.raises(DataError):
        read_tape(tmp_path / "none")
    with pytest.raises(DataError):
        import_reverse(tmp_path)


BOXES = st.tuples(*[st.floats(0, 0.89)] * 2, *[st.floats(0.05, 0.1)] * 2).map(
    lambda b: Box(x0=b[0], y0=b[1], x1=b[0] + b[2], y1=b[1] + b[3])
)


@given(BOXES, BOXES)
def test_overlap_is_symmetric_and_one_only_for_the_same(a, b):
    assert a.iou(b) == pytest.approx(b.iou(a))
    assert 0.0 <= a.iou(b) <= 1.0 + 1e-9
    assert a.iou(a) == pytest.approx(1.0)


def test_overlap_and_likeness_equal_values_computed_by_hand():
    assert Box(x0=0, y0=0, x1=1, y1=0.5).iou(Box(x0=0, y0=0, x1=1, y1=1)) == 0.5
    assert Box(x0=0, y0=0, x1=0.1, y1=0.1).iou(Box(x0=0.5, y0=0.5, x1=1, y1=1)) == 0.0
    assert likeness(tokens("red tram lisbon"), tokens("lisbon tram")) == pytest.approx(2 / 3)
    assert likeness(frozenset(), frozenset()) == 0.0


def test_an_empty_tape_is_a_tape(tmp_path):
    write_tape(Tape(read_head := read_tape_head(), ()), tmp_path / "t.tape")
    assert read_tape(tmp_path / "t.tape") == Tape(read_head, ())
    assert ReplayToolbox(read_tape(tmp_path / "t.tape")).schemas() == ()


def read_tape_head():
    from tts.toolkit.tape.row import TapeHead

    return TapeHead()
