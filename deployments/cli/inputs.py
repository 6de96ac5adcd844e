"""The inputs of `geotts locate`: photos from files, folders, globs and stdin; areas and budgets in words."""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from pydantic import ValidationError

from deployments.cli.text_console import printable
from tts.domain.budget import Budget, budget_of
from tts.domain.geo import Area
from tts.geodata.area_from_text import area_in_words
from tts.geodata.countries import Countries

_SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".gif", ".bmp", ".heic", ".heif", ".avif", ".mpo"}
_GLOB_CHARS = set("*?[")


@dataclass(frozen=True, slots=True)
class Input:
    """One photo to locate: how to call it on the screen (the name never leaves this process), and its bytes."""

    label: str
    path: Path | None

    def read(self) -> bytes:
        """The bytes of the file, or all of stdin when `path` is None. Raises OSError when they cannot be read."""
        return sys.stdin.buffer.read() if self.path is None else self.path.read_bytes()


@dataclass(frozen=True, slots=True)
class PhotoGroup:
    """Several photos of one request: how to call them on the screen, and each by itself."""

    photos: tuple[Input, ...]

    @property
    def label(self) -> str:
        """The name of the first, and how many there are."""
        return f"{self.photos[0].label} and {len(self.photos) - 1} more"

    def read(self) -> list[bytes]:
        """The bytes of each. Raises OSError."""
        return [photo.read() for photo in self.photos]


def collect(arguments: tuple[str, ...]) -> list[Input]:
    """Files as they are named, folders and globs in alphabetical order, `-` for stdin.

    Raises click.BadParameter when something is not there or a folder holds no picture.
    """
    found = [item for argument in arguments for item in _expand(argument)]
    if not found:
        raise click.BadParameter("name at least one photo, folder or glob, or - for stdin", param_hint="PHOTO")
    return found


def _expand(argument: str) -> Iterator[Input]:
    path = Path(argument).expanduser()
    if argument == "-":
        yield Input("stdin", None)
    elif path.is_dir():
        yield from _list_pictures(sorted(p for p in path.rglob("*") if p.is_file()), argument)
    elif path.is_file():
        yield Input(printable(argument), path)
    elif _GLOB_CHARS & set(argument):
        yield from _list_pictures([Path(p) for p in sorted(glob.glob(argument, recursive=True))], argument)
    else:
        raise click.BadParameter(f"there is no file {argument!r}", param_hint="PHOTO")


def _list_pictures(paths: list[Path], where: str) -> Iterator[Input]:
    pictures = [path for path in paths if path.suffix.lower() in _SUFFIXES]
    if not pictures:
        raise click.BadParameter(f"no pictures in {where!r}", param_hint="PHOTO")
    for path in pictures:
        yield Input(printable(str(path)), path)


class AreaType(click.ParamType[Area]):
    """An area in words (`tts.geodata.area_from_text`)."""

    name = "area"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Area:
        """The area that the words describe; click.BadParameter when they describe none."""
        try:
            return area_in_words(value, Countries())
        except ValueError as error:
            self.fail(str(error), param, ctx)


class BudgetType(click.ParamType[Budget]):
    """What a request may take: `30s`, `20k-tokens`, `0.05usd`."""

    name = "budget"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Budget:
        """The budget, or a usage error that says how to write one."""
        try:
            return value if isinstance(value, Budget) else budget_of(str(value))
        except ValidationError as error:
            self.fail(error.errors()[0]["msg"], param, ctx)
        except ValueError as error:
            self.fail(str(error), param, ctx)
