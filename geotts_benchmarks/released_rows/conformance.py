"""`geotts bench conformance`: how far the served code does what the authors' code does."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from geotts_benchmarks.harness import DEFAULT_CORPUS, Result, print_progress, report
from geotts_benchmarks.released_rows.adapters import judge_row
from geotts_benchmarks.released_rows.corpus import FILES, READERS, SAMPLING, Corpus, Row, open_corpus
from geotts_benchmarks.released_rows.row_result import RowResult

_QUICK_ROWS = 25


@click.command()
@click.option(
    "--corpus",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_CORPUS,
    show_default=True,
    help="Folder with eval.jsonl and a folder for each system: prompts.json, tools.jsonl, turns.jsonl, rewards.jsonl.",
)
@click.option("--system", "systems", multiple=True, help="Check only this system. Repeatable.")
@click.option("--only", type=click.Choice([*FILES, SAMPLING, READERS]), help="Check only this file.")
@click.option("--show", is_flag=True, help="Print on stderr why each row differs or is excluded.")
@click.option("--quick", is_flag=True, help=f"Check only the first {_QUICK_ROWS} rows of each file.")
def command(folder: Path, systems: Sequence[str], only: str | None, show: bool, quick: bool) -> None:
    """Run the code of the service on every row of a corpus, and compare characters and numbers (tolerance 1e-6).

    share = equal / (rows - declared), in percent. `declared` are excluded rows: a row is excluded if it needs a text
    that neither the project nor the corpus supplies. These rows are listed with the reason.
    """
    report("conformance", lambda: asyncio.run(measure(open_corpus(folder), systems, only, show=show, quick=quick)))


async def measure(corpus: Corpus, systems: Sequence[str], only: str | None, *, show: bool, quick: bool) -> Result:
    """Counts by system and file. Empty `systems` and `only` None stand for all; readers count without systems only."""
    by_system: dict[str, dict[str, Result]] = {}
    for system in corpus.systems():
        if systems and system not in systems:
            continue
        files = [file for file in (*FILES, SAMPLING) if only in (None, file) and corpus.rows(system, file)]
        by_system[system] = {
            file: await _compare_file(system, file, corpus.rows(system, file), corpus, show=show, quick=quick)
            for file in files
        }
    result: Result = {"by_system": {name: files for name, files in by_system.items() if files}}
    if only in (None, READERS) and not systems:
        result["readers"] = await _compare_file("", READERS, corpus.reader_rows(), corpus, show=show, quick=quick)
    return result


async def _compare_file(
    system: str, file: str, rows: Sequence[Row], corpus: Corpus, *, show: bool, quick: bool
) -> Result:
    verdicts: dict[str, RowResult] = {}
    for row in rows[:_QUICK_ROWS] if quick else rows:
        verdicts[str(row["id"])] = await judge_row(system, file, row, corpus)
    made = _figures(verdicts)
    print_progress(
        f"{system or 'eval'} {file}: {made['equal']} of {made['rows'] - made['declared']}, {made['declared']} declared"
    )
    for name, verdict in verdicts.items() if show else ():
        if verdict.verdict != "equal":
            print_progress(f"  {verdict.verdict} {name}: {verdict.reason}")
    return made


def _figures(verdicts: Mapping[str, RowResult]) -> Result:
    count = Counter(verdict.verdict for verdict in verdicts.values())
    counted = len(verdicts) - count["declared"]
    return {
        "rows": len(verdicts),
        "equal": count["equal"],
        "declared": count["declared"],
        "share": round(100.0 * count["equal"] / counted, 2) if counted else 100.0,
        "differ": [name for name, verdict in verdicts.items() if verdict.verdict == "differ"],
        "declared_ids": [name for name, verdict in verdicts.items() if verdict.verdict == "declared"],
    }
