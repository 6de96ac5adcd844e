"""`geotts eval score`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import click

from deployments.cli.console import STDERR, config_option
from deployments.cli.eval_rewards import geocoded_option
from deployments.cli.text_console import shown_names, styled_text
from deployments.config import AppArgs
from tts.domain.geo import LatLon
from tts.domain.tooling import Datum
from tts.eval.answer_parsers import PARSER_NAMES, ParserName
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.score import Score, ScoreOptions, score_file, score_joined
from tts.eval.truth_table import JoinedRows, join_truths
from tts.geodata.countries import Countries
from tts.geodata.store import DataStore

_DATUMS = click.Choice(["WGS-84", "GCJ-02"], case_sensitive=False)
parser_option = click.option(
    "--parser", type=click.Choice(PARSER_NAMES), default="paper", show_default=True, help="How answers are read."
)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@parser_option
@click.option("--datum", type=_DATUMS, default="WGS-84", show_default=True, help="Datum of the true positions.")
@click.option("--answers-datum", type=_DATUMS, default="WGS-84", show_default=True, help="Datum of the answers.")
@click.option("--names", is_flag=True, help="Compare the names of countries and cities too. Needs `geotts data build`.")
@click.option(
    "--truth",
    type=click.Path(path_type=Path),
    help="Table with the true positions, for FILES without them. Rows are joined by the name of the photo. "
    "Photos without a row count as misses.",
)
@click.option("--by", metavar="COLUMN", help="Column with the name of the photo, in FILES and --truth.")
@click.option("--only-answered", is_flag=True, help="Leave out photos of --truth for which a file has no row.")
@geocoded_option
@config_option
def score(
    args: AppArgs,
    files: tuple[Path, ...],
    parser: str,
    datum: str,
    answers_datum: str,
    names: bool,
    truth: Path | None,
    by: str | None,
    only_answered: bool,
    geocoded: Mapping[str, LatLon] | None,
) -> None:
    """Score the outputs of any system. Prints one JSON line for each file; shares are percentages of all rows.

    FILES are JSON Lines, JSON, CSV, TSV or Parquet. If they hold only answers, --truth names the table with the true
    positions. The parser reads the answer in each output. `paper` takes the first valid JSON object with lat, lon, city
    and country, as the published tables of Thinking with Map do. `serving` also accepts other forms, and `free_text`
    also positions in sentences. Each other parser reads as the code of its system does (docs/evaluation.md). The
    answers for `geoagent` and `geovista` are names: add --names, or --geocoded with their positions. If a datum is
    GCJ-02, positions are converted before distances are computed; `acc_as_written` has the figures without conversion.
    """
    options = ScoreOptions(
        parser=cast(ParserName, parser),
        datum=cast(Datum, datum),
        answers_datum=cast(Datum, answers_datum),
        names=make_place_names(args) if names else None,
        geocoded=geocoded or {},
    )
    if truth is None and (by or only_answered):
        raise click.UsageError("--by and --only-answered are for the table of --truth")
    for path in files:
        if truth is None:
            scored = score_file(path, options)
        else:
            joined = join_truths(path, truth, column=by, only_answered=only_answered)
            for note in _notes_on_join(joined, path, truth, only_answered=only_answered):
                STDERR.print(styled_text((note, "yellow")), soft_wrap=True)
            scored = score_joined(joined, str(path), options)
        click.echo(scored.json_bytes().decode())
        for note in _notes_on_answers(scored):
            STDERR.print(styled_text((note, "yellow")), soft_wrap=True)


def make_place_names(args: AppArgs) -> PlaceNames:
    """Compares the names of countries and of the towns in the gazetteer. Raises DataError when it is not built."""
    return PlaceNames(Countries(), DataStore(args.data_dir).gazetteer())


def _notes_on_join(joined: JoinedRows, path: Path, truth: Path, *, only_answered: bool) -> Iterator[str]:
    if joined.columns[0] != joined.columns[1]:
        yield f"{path}: its `{joined.columns[0]}` was joined with `{joined.columns[1]}` of {truth}"
    if joined.missing:
        what = "are left out" if only_answered else "count as misses (--only-answered leaves them out)"
        yield f"{path}: {len(joined.missing)} photos of {truth} have no row and {what}: {shown_names(joined.missing)}"
    if joined.unknown:
        unknown = f"{len(joined.unknown)} rows are not scored, because their photos are not in {truth}"
        yield f"{path}: {unknown}: {shown_names(joined.unknown)}"


def _notes_on_answers(scored: Score) -> Iterator[str]:
    unread = scored.unparsed - scored.abstained
    if unread:
        rows = shown_names([str(number) for number in scored.unreadable], unread)
        where = f"{unread} of {scored.n} answers: rows {rows}"
        yield f"{scored.file}: --parser {scored.parser} finds no position in {where}"
    elif scored.abstained == scored.n:
        yield f"{scored.file}: none of {scored.n} rows has an answer"
