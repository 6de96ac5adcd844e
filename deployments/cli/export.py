"""`geotts export`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from deployments.cli import shared_options
from deployments.cli.console import STDERR, config_option
from deployments.config import AppArgs
from deployments.wiring.answer_outlines import answer_outlines
from tts.api.sync_client import SyncClient
from tts.domain.request import REQUEST_ID
from tts.domain.trajectory import fold
from tts.errors import DataError
from tts.eval.runs.located_files import read_located
from tts.export.export_source import LocatedPhoto, located_from
from tts.export.formats import FORMATS, Format

_REQUEST_ID = re.compile(REQUEST_ID)
_CHARS_NOT_IN_NAMES = re.compile(r"[^\w.@+-]+")


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")
@click.option("--as", "form", type=click.Choice(list(FORMATS)), required=True, help="The format to write.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A file, or an existing folder that gets one file for each photo. Default: standard output.",
)
@click.option("--url", envvar="GEOTTS_URL", default="http://127.0.0.1:8000", help="The service that has the request.")
@shared_options.api_key
@config_option
def command(
    sources: tuple[str, ...], form: str, output: Path | None, url: str, api_key: str | None, args: AppArgs
) -> None:
    """Write answers in the format of another program.

    SOURCE is a reply or the output of `geotts locate --json`, an event log, a run file, a folder with such files, or
    the id of a request of a running service (loc_…).
    """
    chosen = FORMATS[form]
    if output is None and chosen.binary and sys.stdout.isatty():
        raise click.UsageError(f"{form} is a binary format: name a file or a folder with -o, or redirect the output")
    items = [_add_outlines(item, args.data_dir) for source in sources for item in _located_photos(source, url, api_key)]
    if output is not None and output.is_dir():
        written = _write_each(items, chosen, output)
        STDERR.print(f"{written} {'file' if written == 1 else 'files'} in {output}", markup=False, soft_wrap=True)
        return
    data = chosen.write(items)
    if output is None:
        click.echo(data, nl=False)
    else:
        _write(output, data)


def _located_photos(source: str, url: str, api_key: str | None) -> list[LocatedPhoto]:
    if not _REQUEST_ID.fullmatch(source):
        return read_located(Path(source).expanduser())
    with SyncClient(url, api_key=api_key) as client:
        return [located_from(source, fold(client.events(source)))]


def _add_outlines(item: LocatedPhoto, data_dir: str | None) -> LocatedPhoto:
    """With the outlines of countries and regions, where the map data is built here."""
    return item.model_copy(update={"outlines": answer_outlines(item.answer, data_dir)})


def _write_each(items: Sequence[LocatedPhoto], chosen: Format, folder: Path) -> int:
    """One file a photo, named after it; photos of one name are numbered. A photo without an answer has no sidecar."""
    taken: set[str] = set()
    for item in items:
        if item.answer is None and chosen.sidecar:
            STDERR.print(f"{item.name}: {item.failure}", markup=False, soft_wrap=True)
            continue
        stem = name = _CHARS_NOT_IN_NAMES.sub("_", Path(item.name).name).lstrip(".") or "photo"
        number = 1
        while name in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name)
        _write(folder / f"{name}{chosen.suffix}", chosen.write([item]))
    return len(taken)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from error
