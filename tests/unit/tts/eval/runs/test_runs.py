import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.basics import golden, leftover_tasks
from support.recorded_answers import HERE, SETUP, a_run, record

from tts.config import VllmEngine
from tts.config.pipeline import PipelineConfig
from tts.dialects.settings import DialectSettings
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.errors import DataError, GeoTTSError
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.published_results import published_for, published_rows
from tts.eval.runs.compare import compare
from tts.eval.runs.configuration import config_digest
from tts.eval.runs.journal import Journal, lines_of
from tts.eval.runs.located_files import read_located
from tts.eval.runs.parquet import to_parquet
from tts.eval.runs.record import read_records
from tts.eval.runs.report import markdown, report
from tts.eval.runs.run_metrics import figures, measure
from tts.eval.runs.runner import RunSetup, progress_of, run_samples
from tts.eval.sample import Sample, Truth, sample_id
from tts.eval.score import ScoreOptions, score_file


def samples(n, truth=None):
    truth = truth or Truth(point=HERE, country="France", city="Paris")
    return [Sample(sample_id("made", str(i), 0), lambda: b"photo", truth, ("even",) if i % 2 == 0 else (), str(i))
            for i in range(n)]  # fmt: skip


async def run_all(path, todo, solve, setup=SETUP, **more):
    with Journal(path) as journal:
        return [record async for record in run_samples(todo, solve, journal, setup, **more)]


async def solve_well(request_id, photo, options):
    await asyncio.sleep(0)
    return a_run(1.0, rollouts_km=(1.0, None))


async def test_every_sample_is_on_disk_before_it_is_yielded(tmp_path):
    path = tmp_path / "runs" / "a.jsonl"
    with Journal(path) as journal:
        async for record in run_samples(samples(5), solve_well, journal, SETUP, concurrency=3):
            assert record.sample in {orjson.loads(line)["sample"] for _, line in lines_of(path)}
    assert len(read_records(path)) == 5
    assert not leftover_tasks()


async def test_a_broken_request_is_a_failure_and_its_siblings_go_on(tmp_path):
    """Ours, a crash of somebody else's code, and a stream without an answer: none of them is a wrong answer."""
    outcomes = iter(["ours", "crash", "silent", "fine"])

    async def solve(request_id, photo, options):
        match next(outcomes):
            case "ours":
                raise GeoTTSError("the engine is down")
            case "crash":
                raise ZeroDivisionError
            case "silent":
                return Run()
        return a_run()

    records = await run_all(tmp_path / "a.jsonl", samples(4), solve, concurrency=1)
    assert [bool(record.failure) for record in records] == [True, True, True, False]
    assert records[0].failure == "the engine is down"
    assert "ZeroDivisionError" in records[1].failure


async def test_a_run_goes_on_where_it_stopped_and_failures_can_be_tried_again(tmp_path):
    path = tmp_path / "a.jsonl"
    asked: Counter[str] = Counter()

    async def solve(request_id, photo, options):
        asked[request_id] += 1
        if request_id == broken and asked[request_id] == 1:
            raise GeoTTSError("once")
        return a_run()

    every = samples(6)
    broken = every[1].id
    await run_all(path, every[:4], solve)
    before = progress_of(path, SETUP)
    assert (len(before.done), before.failed) == (4, {broken})
    await run_all(path, [s for s in every if s.id not in before.done - before.failed], solve)
    assert asked == {s.id: 2 if s.id == broken else 1 for s in every}
    assert [record.failure for record in read_records(path)] == [""] * 6
    assert progress_of(path, SETUP).failed == frozenset()


async def test_closing_an_evaluation_run_cancels_its_running_requests(tmp_path):
    stopped = []

    async def solve(request_id, photo, options):
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            stopped.append(request_id)
            raise
        return Run()

    with Journal(tmp_path / "a.jsonl") as journal:
        records = run_samples(samples(4), solve, journal, SETUP, concurrency=3)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await anext(records)
        await records.aclose()
    assert len(stopped) == 3
    assert not leftover_tasks()
    assert len(await run_all(tmp_path / "a.jsonl", samples(2), solve_well)) == 2


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (RunSetup("else", LocateOptions(seed=1)), "data set"),
        (RunSetup("made", LocateOptions(seed=2)), "options"),
        (RunSetup("made", LocateOptions(seed=1), "abc"), "configuration"),
    ],
)
async def test_a_file_is_only_continued_with_the_same_setup(tmp_path, other, what):
    await run_all(tmp_path / "a.jsonl", samples(1), solve_well)
    with pytest.raises(DataError, match=f"line 1 was made with another .*{what}"):
        progress_of(tmp_path / "a.jsonl", other)


def test_the_configuration_is_named_by_the_contents_of_its_files(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    files = {name: tmp_path / name for name in ("prompt.txt", "task.txt", "tools.json")}
    files["template"] = model / "chat_template.jinja"
    for path in files.values():
        path.write_text("one")
    settings = DialectSettings(
        prompt_file=files["prompt.txt"], task_file=files["task.txt"], tool_schema_file=files["tools.json"]
    )
    args = PipelineConfig(engine=VllmEngine(model=str(model)), dialect_settings=settings)
    before = config_digest(args, None)
    assert config_digest(args, None) == before
    seen = {before}
    for path in files.values():
        path.write_text("other")
        seen.add(config_digest(args, None))
    assert len(seen) == 1 + len(files)


@given(
    st.lists(st.integers(0, 10**12), min_size=1, max_size=8), st.binary(max_size=40).filter(lambda b: b"\n" not in b)
)
def test_a_torn_tail_of_a_journal_is_cut_and_whole_lines_stay(tmp_path_factory, numbers, tail):
    path = tmp_path_factory.mktemp("journal") / "a.jsonl"
    whole = b"".join(b'{"n":%d}\n' % number for number in numbers)
    path.write_bytes(whole + tail)
    with Journal(path) as journal:
        assert journal.repaired_bytes == len(tail)
        journal.append(b'{"n":-1}')
    assert path.read_bytes() == whole + b'{"n":-1}\n'


@pytest.mark.parametrize("torn", [b'{"n":', b"{", b"\x00" * 4096, b"\x00\n", b"\n", b'{"n":\x00\x00}\n'])
def test_a_first_line_that_was_not_finished_is_cut(tmp_path, torn):
    (tmp_path / "a.jsonl").write_bytes(torn)
    with Journal(tmp_path / "a.jsonl") as journal:
        assert journal.repaired_bytes == len(torn)


@pytest.mark.parametrize("whole", [b'{"n":1}\r\n', b'\n{"n":1}\n', b'{"n":\x00}\n{"n":1}\n'])
def test_a_journal_that_an_editor_or_a_crash_has_changed_is_continued(tmp_path, whole):
    (tmp_path / "a.jsonl").write_bytes(whole)
    with Journal(tmp_path / "a.jsonl") as journal:
        journal.append(b'{"n":2}')
    assert (tmp_path / "a.jsonl").read_bytes() == whole + b'{"n":2}\n'


@pytest.mark.parametrize(
    "other", [b"image,lat,lon\na.jpg,1,2\n", b"PAR1\x15\x04", b"[\n1]\n", b'{\n"a": 1\n}\n', b"notes"]
)
def test_a_file_of_something_else_is_refused_as_journal_and_left_as_it_is(tmp_path, other):
    (tmp_path / "mine").write_bytes(other)
    with pytest.raises(DataError, match="mine exists and holds no JSON Lines"):
        Journal(tmp_path / "mine")
    assert (tmp_path / "mine").read_bytes() == other


def test_journal_lines_of_zero_bytes_at_the_end_are_cut_too(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n":1}\n' + b"\x00" * 4096 + b"\n")
    with Journal(path):
        assert path.read_bytes() == b'{"n":1}\n'


def test_a_second_writer_of_a_journal_is_refused(tmp_path):
    with Journal(tmp_path / "a.jsonl"), pytest.raises(DataError, match="another process"):
        Journal(tmp_path / "a.jsonl")
    Journal(tmp_path / "a.jsonl").close()


def test_lines_of_many_threads_stay_whole(tmp_path):
    lines = {b'{"n":%d,"x":"%s"}' % (n, b"x" * 50_000) for n in range(64)}
    with Journal(tmp_path / "a.jsonl") as journal, ThreadPoolExecutor(8) as pool:
        list(pool.map(journal.append, lines))
    assert {line.rstrip(b"\n") for _, line in lines_of(tmp_path / "a.jsonl")} == lines
    with pytest.raises(ValueError, match="closed"):
        journal.append(b"{}")


def test_a_journal_refuses_a_line_with_a_newline_in_it(tmp_path):
    with Journal(tmp_path / "a.jsonl") as journal, pytest.raises(ValueError, match="newline"):
        journal.append(b"a\nb")


@pytest.mark.slow
def test_an_evaluation_killed_again_and_again_loses_and_repeats_no_sample(tmp_path):
    """A real process, killed hard five times; the benchmark `score` does it fifty times at random."""
    path = tmp_path / "run.jsonl"
    program = "import sys; from geotts_benchmarks.library_parts.score import child; child(sys.argv[1])"
    for _ in range(5):
        command = [sys.executable, "-c", program, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[5]) as process:
            remaining = orjson.loads(process.stdout.readline())["left"]
            while len(list(lines_of(path))) < 4000 - remaining + 20:
                time.sleep(0.002)
            os.kill(process.pid, signal.SIGKILL)
    counts = Counter(orjson.loads(line)["sample"] for _, line in lines_of(path))
    assert set(counts.values()) == {1}
    assert 100 <= len(counts) < 4000


async def test_records_are_read_as_written_and_equal_the_golden_file(tmp_path):
    records = await run_all(tmp_path / "a.jsonl", samples(1), solve_well)
    assert read_records(tmp_path / "a.jsonl") == records
    frozen = records[0].model_copy(update={"elapsed_s": 0.5})
    golden("record.json", orjson.dumps(frozen.jsonable(), option=orjson.OPT_INDENT_2).decode() + "\n")


def test_a_record_of_another_version_is_refused_by_line(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"schema_version": 2}\n')
    with pytest.raises(DataError, match="line 1 is not a record of version 1"):
        read_records(tmp_path / "a.jsonl")


async def test_a_run_file_can_be_scored_and_converted_without_loss(tmp_path):
    path = tmp_path / "a.jsonl"
    records = await run_all(path, samples(3), solve_well)
    pytest.importorskip("pyarrow")
    assert to_parquet(path, tmp_path / "a.parquet") == 3
    back = read_records(tmp_path / "a.parquet")
    assert {record.sample: record for record in back} == {record.sample: record for record in records}
    for file in (path, tmp_path / "a.parquet"):
        assert score_file(file, ScoreOptions()).acc == (0.0, 100.0, 100.0, 100.0, 100.0, 100.0)
    for file in (path, (tmp_path / "a.parquet").rename(tmp_path / "A.PARQUET")):
        assert sorted(photo.name for photo in read_located(file)) == ["0", "1", "2"]


async def test_a_run_file_is_not_replaced_by_its_conversion(tmp_path):
    path = tmp_path / "a.jsonl"
    await run_all(path, samples(1), solve_well)
    for target in (path, tmp_path / "a.csv"):
        with pytest.raises(DataError, match=r"would be a Parquet file.*\.parquet"):
            to_parquet(path, target)
    assert len(read_records(path)) == 1


def test_failures_of_a_run_file_are_in_no_figure_of_its_score(tmp_path):
    failed = record("b", None, failure="down")
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([record("a", a_run(0.1)).json_line(), failed.json_line(), b""]))
    score = score_file(tmp_path / "a.jsonl")
    assert (score.n, score.failures, score.unparsed, score.acc[0]) == (1, 1, 0, 100.0)
    (tmp_path / "b.jsonl").write_bytes(failed.json_line() + b"\n")
    with pytest.raises(DataError, match="all 1 requests failed"):
        score_file(tmp_path / "b.jsonl")


@pytest.fixture(scope="module")
def names(countries, gazetteer):
    return PlaceNames(countries, gazetteer)


def test_figures_equal_values_computed_by_hand(names):
    """Four answers and a failure: on the spot, 30 km off, abroad, and an abstention that still knows the country."""
    found = figures(
        measure(
            [
                record("a", a_run(0.1, rollouts_km=(0.1, 100.0), confidence=1.0)),
                record("b", a_run(30.0, rollouts_km=(30.0, 11.0), confidence=0.0, city="Versailles")),
                record("c", a_run(3000.0, rollouts_km=(3000.0, None), confidence=0.0, country="Iceland", city="")),
                record("d", a_run(abstained=True, confidence=0.0, city="")),
                record("e", None, failure="down"),
            ],
            names,
        ),
        intervals=True,
    )
    assert (found.n, found.failures, found.coverage, found.abstained) == (4, 1, 75.0, 25.0)
    assert found.acc == (25.0, 25.0, 25.0, 25.0, 50.0, 50.0)
    assert found.best_of_n == (25.0, 25.0, 25.0, 50.0, 50.0, 50.0)
    assert found.pass_at_25km == {1: 25.0, 2: 50.0}
    assert (found.country, found.city) == (75.0, 25.0)
    assert found.radius90_cover == pytest.approx(66.6667)
    assert (found.radius90_median_km, found.ece, found.brier_skill) == (50.0, 0.0, 1.0)
    assert (found.tool_calls, found.tokens, found.p50_s, found.rollouts) == (4.0, 100.0, 1.0, 1.5)
    assert found.median_km == pytest.approx(30.0, abs=0.01)
    assert all(i.low <= i.value <= i.high for i in found.acc_intervals)


def test_a_vague_truth_is_scored_at_its_own_radius(names):
    vague = Truth(point=HERE, accuracy_radius_m=40_000, country="France")
    found = figures(measure([record("a", a_run(30.0), truth=vague)], names))
    assert found.acc == (100.0,) * 6


def test_compared_runs_are_paired(names):
    first = [record(str(i), a_run(1000.0)) for i in range(30)]
    second = [record(str(i), a_run(1.0 if i < 20 else 1000.0)) for i in range(40)]
    found = compare(first, second, names)
    at_25 = next(row for row in found.rows if row.name == "acc@25km %")
    assert (found.n, found.left_out) == (30, 10)
    assert (at_25.first, at_25.second) == (0.0, pytest.approx(66.667))
    assert at_25.difference.low > 0
    assert at_25.p < 1e-4
    with pytest.raises(DataError, match="share no sample"):
        compare(first, [record("x", a_run())], names)


def test_names_are_no_misses_where_no_truth_names_them(names):
    bare = Truth(point=HERE)
    runs = [record(str(i), a_run(0.1)).model_copy(update={"truth": bare}) for i in range(3)]
    found = report(runs, names)
    assert (found.whole.country, found.whole.city) == (None, None)
    assert not any(row.name in ("country %", "city %") for row in compare(runs, runs, names).rows)
    found = report([*runs, record("3", a_run(0.1))], names)
    assert (found.whole.country, found.whole.city) == (100.0, 100.0)


def test_runs_that_failed_on_all_photos_of_one_are_refused_with_what_to_do(names):
    with pytest.raises(DataError, match="--retry-failed"):
        compare([record("a", a_run())], [record("a", None, failure="down")], names)


def test_a_report_stands_beside_the_published_rows(names):
    runs = [record(str(i), a_run(0.1), dataset="geobench", tags=("type:photo",)) for i in range(3)]
    found = report(runs, names)
    assert found.parts.keys() == {"type:photo"}
    assert [table.benchmark for table in found.tables] == ["geobench"]
    text = markdown(found)
    assert "**GeoTTS, this run**" in text
    assert f"\nKind of N: {found.kind_of_n}\n" in text
    assert "not comparable" in text
    assert "57.94" in text


def test_runs_stand_side_by_side_over_the_photos_all_answered(names):
    auto = [record(str(i), a_run(0.1)) for i in range(4)]
    deep = [record(str(i), a_run(100.0)) for i in range(3)]
    found = report(auto, names, [deep])
    first, second = found.side_by_side.values()
    assert (first.n, second.n, first.acc[3], second.acc[3]) == (3, 3, 100.0, 0.0)
    assert "Side by side" in markdown(found)
    assert "Side by side" not in markdown(report(auto, names))
    with pytest.raises(DataError, match="no photo in common"):
        report(auto, names, [[record("x", a_run())]])
    with pytest.raises(DataError, match="different data sets"):
        report(auto, names, [[record("0", a_run(), dataset="other")]])


def test_every_published_row_has_its_source_and_rising_accuracies():
    rows = {(row.system, row.benchmark): row for row in published_rows()}
    assert len(published_rows()) == 87
    assert all(len(row.thresholds_km) == len(row.acc_percent) and row.source for row in published_rows())
    assert all(list(row.acc_percent) == sorted(row.acc_percent) for row in published_rows())
    assert rows["REVERSE", "im2gps3k"].acc_percent == (22.5, 48.3, 59.3, 73.5, 84.8)
    assert {row.benchmark for row in published_for("yfcc4k")} == {"yfcc4k"}
    assert all(row.why for row in published_rows() if not row.comparable)
