"""What data sets share: finding the table and the pictures, and turning rows into samples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tts.domain.tooling import Datum
from tts.errors import DataError
from tts.eval.datasets.picture_files import PictureFiles
from tts.eval.fields import PICTURE_COLUMNS, has_empty_truth, plain_keys, truth_of
from tts.eval.rows import Row, read_rows
from tts.eval.sample import LeftOut, Sample, Truth, sample_id
from tts.geodata.datum import as_wgs84

_PICTURE_FOLDERS = ("", "images", "img", "photos", "raw_image")
_SHARD = re.compile(
    r"\A(.{1,255})-\d{5}-of-(\d{5})(?:-[0-9a-f]+)?(?=\.)"
)  # with the hash that old versions of datasets add
_SHOWN_TABLES = 5


@dataclass(frozen=True, slots=True)
class Dataset:
    """`needs` tells a person what must lie under the path; `load(path, seed)` makes samples in any order.

    Rows that make no sample are in it as `LeftOut`, so that they are counted.
    """

    name: str
    about: str
    needs: str
    load: Callable[[Path, int], Sequence[Sample | LeftOut]]


@dataclass(frozen=True, slots=True)
class RowReader:
    """Makes samples from table rows. `tags` names what parts of the data set a row belongs to."""

    dataset: str
    folder: Path
    seed: int
    datum: Datum = "WGS-84"
    tags: Callable[[Row], Sequence[str]] = lambda row: ()
    picture_folders: tuple[str, ...] = ()

    def samples(self, rows: Iterable[Row], table: Path) -> list[Sample | LeftOut]:
        """One for each row. A row without its picture or with an empty position makes no sample.

        Raises:
            DataError: naming the first row that names no picture, or whose position is none.
        """
        made: list[Sample | LeftOut] = []
        pictures = PictureFiles(self.folder, (*self.picture_folders, *_PICTURE_FOLDERS))
        for number, row in enumerate(rows, 1):
            where = f"{table}, row {number}"
            key, load = self._picture(row, where, pictures)
            if load is None:
                made.append(LeftOut(key, f"pictures named in {table} are not under {self.folder}"))
            elif has_empty_truth(row):
                made.append(LeftOut(key, f"rows of {table} have an empty position"))
            else:
                sample = sample_id(self.dataset, key, self.seed)
                made.append(Sample(sample, load, self._truth(row, where), tuple(self.tags(row)), key))
        return made

    def samples_of(self, tables: Sequence[Path]) -> list[Sample | LeftOut]:
        """The same of the rows of a table, or of its shards in order. Raises DataError when one cannot be read, too."""
        return self.samples(chain.from_iterable(map(read_rows, tables)), tables[0])

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

    def _picture(self, row: Row, where: str, files: PictureFiles) -> tuple[str, Callable[[], bytes] | None]:
        """(source key, loader); no loader when the named file is not there."""
        keys = plain_keys(row)
        for holder in (keys, keys.get("ground_truth"), keys.get("extra_info")):
            if not isinstance(holder, dict):
                continue
            for name in (*PICTURE_COLUMNS, "id"):
                if (found := _embedded_picture(holder.get(name))) is not None:
                    key, data = found
                    if data is not None:
                        return key or f"row {where.rsplit(' ', 1)[-1]}", partial(_return_unchanged, data)
                    return key, files.loader(key)
        expected = ", ".join((*PICTURE_COLUMNS[:6], "id"))
        raise DataError(f"{where} names no picture: expected one of {expected}; it has {list(row)}")


def find_tables(folder: Path, patterns: Sequence[str], needs: str) -> tuple[Path, ...]:
    """The file that matches the first pattern that one matches, or all shards of it; `folder` itself when it is a file.

    Raises:
        DataError: when nothing matches, saying what is needed; when several files match; when shards are missing.
    """
    if folder.is_file():
        return (folder,)
    found = next((found for pattern in patterns if (found := sorted(folder.glob(pattern)))), None)
    if found is None:
        raise DataError(f"{folder} holds none of {', '.join(patterns)}; needed: {needs}")
    shards = {(shard[1], int(shard[2])) for path in found if (shard := _SHARD.search(path.name)) is not None}
    if len(found) > 1 and (len(shards) != 1 or not all(_SHARD.search(path.name) for path in found)):
        names = ", ".join(path.name for path in found[:_SHOWN_TABLES])
        split = ", or put the files of one split into a folder of their own" if shards else ""
        raise DataError(f"{folder} holds {len(found)} tables: {names}. Give the path of the one to read{split}")
    for name, count in shards:
        if len(found) != count:
            raise DataError(
                f"{folder} holds {len(found)} of the {count} files of {name}. Give the path of one to read it"
            )
    return tuple(found)


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
