"""`geotts tape show | convert | export | check`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import orjson

from tts.toolkit.tape.file import read_tape, write_tape
from tts.toolkit.tape.reverse import export_reverse, import_reverse
from tts.toolkit.tape.search import SearchTape

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group()
def command() -> None:
    """Recorded tool results.

    Record with tools.tape {path: run.tape, mode: record} in the configuration, replay with mode: replay.
    """


@command.command("show")
@click.argument("tape", type=_FILE)
def show(tape: Path) -> None:
    """What a tape holds, as JSON."""
    rows = read_tape(tape).rows
    found = {
        "rows": len(rows),
        "tools": dict(Counter(row.name for row in rows)),
        "failures": dict(Counter(row.result.failure.kind.value for row in rows if row.result.failure)),
        "photos": len({photo for row in rows for photo in row.photos}),
        "pictures": sum(len(row.attachments) for row in rows),
    }
    click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())


@command.command("convert")
@click.argument("source", type=_FILE)
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
def convert(source: Path, target: Path) -> None:
    """JSONL to Parquet and back, by the suffix of TARGET."""
    tape = read_tape(source)
    write_tape(tape, target)
    click.echo(f"{len(tape.rows)} rows written to {target}", err=True)


@command.command("export")
@click.argument("tape", type=_FILE)
@click.argument("folder", type=_FOLDER)
def export(tape: Path, folder: Path) -> None:
    """Write the searches of a tape as a REVERSE search cache."""
    export_reverse(SearchTape.of(read_tape(tape).rows), folder)
    click.echo(f"written to {folder}", err=True)


@command.command("check")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def check(folder: Path) -> None:
    """What a REVERSE search cache holds; use it with tools.settings.tape.path."""
    found = import_reverse(folder)
    counts = {
        "texts": len(found.texts),
        "photos": len(found.pictures),
        "boxes": sum(len(known) for known in found.pictures.values()),
    }
    click.echo(orjson.dumps(counts).decode())
