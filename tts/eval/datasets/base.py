"""What data sets share: finding the table and the pictures, and turning rows into samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tts.domain.tooling import Datum
from tts.errors import DataError
from tts.eval.fields import plain_keys, truth_of
from tts.eval.rows import Row
from tts.eval.sample import Sample, Truth, sample_id
from tts.geodata.datum import as_wgs84

_PICTURE_KEYS = (
    "image", "file", "filename", "file_name", "img", "img_id", "image_id", "image_path", "img_path", "raw_image_path",
    "path", "photo", "images", "preview",
)  # fmt: skip
_PICTURE_FOLDERS = ("", "images", "img", "photos", "raw_image")
_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".heic", ".tif", ".tiff", ".bmp", ".gif", ".avif")


@dataclass(frozen=True, slots=True)
class Dataset:
    """`needs` tells a person what must lie under the path; `load(path, seed)` makes samples in any order."""

    name: str
    about: str
    needs: str
    load: Callable[[Path, int], list[Sample]]


@dataclass(frozen=True, slots=True)
class RowReader:
    """Makes samples from table rows. `tags` names what parts of the data set a row belongs to."""

    dataset: str
    folder: Path
    seed: int
    datum: Datum = "WGS-84"
    tags: Callable[[Row], Sequence[str]] = lambda row: ()
    picture_folders: tuple[str, ...] = ()

    def samples(self, rows: Iterable[Row], table: Path) -> list[Sample]:
        """Raises DataError naming the first row without truth or picture, and how many pictures are missing."""
        made: list[Sample] = []
        missing: list[str] = []
        for number, row in enumerate(rows, 1):
            where = f"{table}, row {number}"
            key, load = self._picture(row, where)
            if load is None:
                missing.append(key)
                continue
            sample = sample_id(self.dataset, key, self.seed)
            made.append(Sample(sample, load, self._truth(row, where), tuple(self.tags(row)), key))
        if missing:
            raise DataError(f"{len(missing)} pictures named in {table} are not under {self.folder}, first {missing[0]}")
        return made

    def _truth(self, row: Row, where: str) -> Truth:
        place, keys = truth_of(row, where), plain_keys(row)
        if place.point is None:
            raise DataError(f"{where} has no true position")
        code = str(keys.get("country_code") or "")
        radius = keys.get("accuracy_radius_m")
        return Truth(
            point=as_wgs84(place.point, self.datum),
            accuracy_radius_m=float(radius) if radius not in (None, "") else 0.0,
            country=place.country,
            country_code=code.upper() if len(code) == 2 else "",
            city=place.city,
        )

    def _picture(self, row: Row, where: str) -> tuple[str, Callable[[], bytes] | None]:
        """(source key, loader); no loader when the named file is not there."""
        keys = plain_keys(row)
        for holder in (keys, keys.get("ground_truth"), keys.get("extra_info")):
            if not isinstance(holder, dict):
                continue
            for name in _PICTURE_KEYS:
                if (found := _embedded_picture(holder.get(name))) is not None:
                    key, data = found
                    if data is not None:
                        return key or f"row {where.rsplit(' ', 1)[-1]}", partial(_return_unchanged, data)
                    return key, self._file(key)
        raise DataError(f"{where} names no picture: expected one of {', '.join(_PICTURE_KEYS[:6])}; it has {list(row)}")

    def _file(self, name: str) -> Callable[[], bytes] | None:
        for folder in (*self.picture_folders, *_PICTURE_FOLDERS):
            for suffix in ("", ".jpg"):
                path = self.folder / folder / (name + suffix)
                if path.is_file():
                    return path.read_bytes
        return None


def find_table(folder: Path, patterns: Sequence[str], needs: str) -> Path:
    """The first file that matches, patterns in order, names sorted; `folder` itself when it is a file.

    Raises:
        DataError: when nothing matches, saying what is needed.
    """
    if folder.is_file():
        return folder
    for pattern in patterns:
        if found := sorted(folder.glob(pattern)):
            return found[0]
    raise DataError(f"{folder} holds none of {', '.join(patterns)}; needed: {needs}")


def pictures_in(folder: Path) -> list[Path]:
    """The pictures in a folder and the folders below it, by the ends of their names; sorted."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES)


def _embedded_picture(value: Any) -> tuple[str, bytes | None] | None:
    """(name, bytes) of a picture field: a path, a list with one, or an object with bytes or a path in it."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, bytes):
        return "", value
    if isinstance(value, str) and value:
        return value, None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value), None
    if isinstance(value, dict):
        name = next((str(value[k]) for k in ("path", "image_url", "url", "image") if value.get(k)), "")
        data = value.get("bytes")
        if isinstance(data, bytes):
            return name, data
        if name:
            return name.removeprefix("file://"), None
    return None


def _return_unchanged(data: bytes) -> bytes:
    return data
