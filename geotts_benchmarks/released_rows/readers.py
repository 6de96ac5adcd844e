"""What each released parser reads in one text, and in the published outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import JsonValue

from geotts_benchmarks.harness import DEFAULT_LOGS
from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.corpus_spelling import to_corpus_spelling
from geotts_benchmarks.released_rows.geovista.rewards import levels
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, excluded_row
from tts.eval.rows import read_rows
from tts.rewards.released import (
    geoagent_answer,
    geovista_reward,
    reverse_reward,
    thinking_with_map_reward,
)

_TOTALS = "eval/published_totals/"
_MAX_NAME_CHARS = 120  # what the corpus keeps of a name in these rows


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Compare what each reader makes of the row's text; a row of totals is read from the published file."""
    if str(row["id"]).startswith(_TOTALS):
        return _compare_totals(row)
    text, truth = row["text"], row["truth"]
    made: dict[str, Any] = {
        "thinking_with_map": _reading_and_score(thinking_with_map_reward.read_answer(text), truth),
        "thinking_with_map_verifier": _reading_and_score(thinking_with_map_reward.read_verdict(text), truth),
        "reverse_eval": _point_fields(reverse_reward.read_for_tables(text)),
        "reverse_reward": _read_reward(text, truth),
        "geoagent": {
            "answer_for_geocoding": geoagent_answer.answer_for_geocoding(text),
            "fields": [
                name[:_MAX_NAME_CHARS] for name in geoagent_answer.names_in(geoagent_answer.answer_for_names(text))
            ],
        },
        "geovista_names_by_rule": levels(geovista_reward.names_by_rule(text, truth)),
    }
    pairs: dict[str, tuple[JsonValue, JsonValue]] = {
        name: (row[name], to_corpus_spelling(value)) for name, value in made.items() if name in row
    }
    return compare_pairs(**pairs)


def _compare_totals(row: Row) -> RowResult:
    """A whole file of published outputs, where the folder of logs has it."""
    path = DEFAULT_LOGS / Path(row["file"]).name
    if not path.is_file():
        return excluded_row(f"{row['file']} is not in {DEFAULT_LOGS} (GEOTTS_LOGS); it is published with the code")
    count, unread, differing, total = 0, 0, 0, 0.0
    for output in read_rows(path):
        reading = thinking_with_map_reward.read_answer(output["solution_str"])
        count += 1
        unread += reading.lat is None or reading.lon is None
        differing += reading != thinking_with_map_reward.read_verdict(output["solution_str"])
        total += thinking_with_map_reward.score(reading, output["ground_truth"]).score
    return compare_pairs(
        rows=(row["rows"], count),
        no_answer_for_the_scorer=(row["no_answer_for_the_scorer"], unread),
        verifier_reader_differs=(row["verifier_reader_differs"], differing),
        mean_score=(row["mean_score"], round(total / count, 6)),
    )


def _reading_and_score(reading: thinking_with_map_reward.Reading, truth: Row) -> dict[str, Any]:
    return {**reading._asdict(), "score": thinking_with_map_reward.score(reading, truth).score}


def _point_fields(found: tuple[float, float] | None) -> dict[str, float] | None:
    return None if found is None else {"lat": found[0], "lon": found[1]}


def _read_reward(text: str, truth: Row) -> dict[str, Any]:
    found: dict[str, Any] = _point_fields(reverse_reward.read_for_reward(text)) or {"lat": None, "lon": None}
    true = f"{truth['lat']}, {truth['lon']}"
    return {**found, "score": reverse_reward.place(text, true).place}
