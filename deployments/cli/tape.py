"""`geotts tape show | convert | export | check | convert-cache | photos`."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import click
import orjson

from deployments.cli import shared_options
from tts.errors import DataError
from tts.eval.photo_table import photo_name, read_photo_table
from tts.toolkit.reverse_cache.evaluation import copy_files, has_files, read_files
from tts.toolkit.reverse_cache.tables import has_tables, read_tables, write_tables
from tts.toolkit.reverse_cache.tape_conversion import as_tables
from tts.toolkit.tape.file import read_tape, write_tape
from tts.toolkit.tape.reverse_layout import export_reverse, import_reverse
from tts.toolkit.tape.similar_searches import SearchTape

_FOLDER_TYPE = click.Path(file_okay=False, path_type=Path)
_PHOTO_SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".bmp", ".heic", ".avif"}
_photos_option = shared_options.table(
    "--photos",
    read_photo_table,
    "Table from your photos (sha256 or file) to recorded paths (image_path), such as `geotts tape photos` writes.",
)


@click.group()
def command() -> None:
    """Work with tapes, which are recorded results of tools.

    To record one, set tools.tape to {path: run.tape, mode: record} in the configuration. To replay it, set mode to
    replay.
    """


@command.command("show")
@click.argument("tape", type=shared_options.EXISTING_FILE)
def show(tape: Path) -> None:
    """Print a summary of a tape as JSON: its rows, tools, failures, photos and pictures."""
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
@click.argument("source", type=shared_options.EXISTING_FILE)
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
def convert(source: Path, target: Path) -> None:
    """Convert a tape from JSON Lines to Parquet, or back. The suffix of TARGET selects the format."""
    tape = read_tape(source)
    write_tape(tape, target)
    click.echo(f"{len(tape.rows)} rows written to {target}", err=True)


@command.command("export")
@click.argument("tape", type=shared_options.EXISTING_FILE)
@click.argument("folder", type=_FOLDER_TYPE)
@click.option(
    "--layout",
    type=click.Choice(["tables", "hashes"]),
    default="tables",
    show_default=True,
    help="tables: the columns of REVERSE, which names photos by path. hashes: one row for each search; photos by hash.",
)
@_photos_option
def export(tape: Path, folder: Path, layout: str, photos: Mapping[str, str] | None) -> None:
    """Write the searches of a tape as a REVERSE search cache."""
    searches = SearchTape.from_rows(read_tape(tape).rows)
    if layout == "hashes":
        export_reverse(searches, folder)
    else:
        write_tables(as_tables(searches, photos or {}), folder)
    click.echo(f"written to {folder}", err=True)


@command.command("check")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_photos_option
def check(folder: Path, photos: Mapping[str, str] | None) -> None:
    """Print a summary of a REVERSE search cache as JSON: of its tables, its SQLite files, or the layout by hashes.

    tools.settings.tape.path takes each of these layouts. With --photos, `named` is the number of photos in the
    tables that your table names.
    """
    click.echo(orjson.dumps(_count_contents(folder, photos or {})).decode())


@command.command("convert-cache")
@click.argument("source", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("target", type=_FOLDER_TYPE)
def convert_cache(source: Path, target: Path) -> None:
    """Copy a REVERSE search cache from SOURCE to TARGET: its tables, its SQLite files, or both. This checks that
    GeoTTS reads all of it.
    """
    if not has_tables(source) and not has_files(source):
        raise DataError(
            f"{source} has neither REVERSE's tables nor its SQLite files: name the folder of its search cache"
        )
    if has_tables(source):
        write_tables(read_tables(source), target)
    if has_files(source):
        copy_files(source, target)
    click.echo(f"written to {target}", err=True)


@command.command("photos")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("table", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--prefix", default="", help="The beginning of the recorded paths, before the path below FOLDER.")
def photos_table(folder: Path, table: Path, prefix: str) -> None:
    """Write TABLE, a CSV file that maps your photos (sha256) to the recorded paths (image_path).

    The path of each photo is PREFIX and its path below FOLDER. If the recorded paths are different, edit the table.
    """
    files = [file for file in sorted(folder.rglob("*")) if file.suffix.lower() in _PHOTO_SUFFIXES]
    if not files:
        raise DataError(f"{folder} has no photos ({', '.join(sorted(_PHOTO_SUFFIXES))})")
    with table.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(("sha256", "image_path"))
        for count, file in enumerate(files, 1):
            rows.writerow((photo_name(file), f"{prefix}{file.relative_to(folder).as_posix()}"))
            if count % 100 == 0:
                click.echo(f"  {count} of {len(files)}", err=True)
    click.echo(f"{table}: {len(files)} photos", err=True)


def _count_contents(folder: Path, photos: Mapping[str, str]) -> dict[str, int]:
    if has_tables(folder):
        cache = read_tables(folder, photos)
        paths = cache.recorded_paths()
        results = [result for path in paths for result in cache.results_of(path)]
        return {
            "photos": len(paths),
            "boxes": sum(map(len, cache.pictures.values())),
            "texts": sum(map(len, cache.texts.values())),
            "results": len(results),
            "useful": sum(result.useful for result in results),
            "named": len(paths & {*photos.values()}),
        }
    if has_files(folder):
        files = read_files(folder)
        return {"texts": len(files.texts), "boxes": len(files.pictures)}
    found = import_reverse(folder)
    return {
        "texts": len(found.texts),
        "photos": len(found.pictures),
        "boxes": sum(len(known) for known in found.pictures.values()),
    }
