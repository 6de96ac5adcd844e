"""Joins the outputs of a system with the true positions that another table holds, photo by photo.

Tables name a photo differently: with or without the folder, with or without the suffix. Names are compared as written,
or by the name of the file without its suffix where more photos agree so. No row is lost in silence: photos without an
output, and outputs without a photo, are named in the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tts.errors import DataError
from tts.eval.fields import PICTURE_COLUMNS, PICTURE_SUFFIXES, names_of, plain_keys, truth_of
from tts.eval.rows import Row, read_rows

_OTHER_COLUMNS = ("id", "key", "index", "sample_id", "question_id", "uid", "pano_id", "name")


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """`rows` have a truth and an output each, with the number of the output's row, and 0 for a photo without one.

    `missing` are the photos without an output; `unknown` are the outputs whose photo the truths do not have.
    """

    rows: tuple[tuple[int, Row], ...]
    columns: tuple[str, str]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


def join_truths(outputs: Path, truths: Path, *, column: str | None = None, only_answered: bool = False) -> JoinedRows:
    """Rows of `outputs` with the position of their photo in `truths`.

    `column` names the photo in both tables; None: the first usual name that both have, else one of each. With
    `only_answered`, photos without an output are left out of `rows`; otherwise they are rows that state nothing.

    Raises:
        DataError: a table does not say which photo a row is of or has two rows for one, a photo has no position, or the
            two tables have no photo in common.
    """
    answers, places = _Table.read(outputs), _Table.read(truths)
    columns = (column, column) if column is not None else _choose_columns(answers, places)
    found, wanted = _same_names(answers.names(columns[0]), places.names(columns[1]), (outputs, truths), columns)
    rows = [
        (at + 1, {**_without_truth(answers.rows[at]), "ground_truth": places.truth(wanted[name])})
        for name, at in found.items()
        if name in wanted
    ]
    missing = [name for name in wanted if name not in found]
    if not only_answered:
        rows += [(0, {"ground_truth": places.truth(wanted[name]), "response": None}) for name in missing]
    return JoinedRows(tuple(rows), columns, tuple(missing), tuple(name for name in found if name not in wanted))


@dataclass(frozen=True, slots=True)
class _Table:
    path: Path
    rows: list[Row]
    columns: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> _Table:
        rows = list(read_rows(path))
        if not rows:
            raise DataError(f"{path} has no rows")
        return cls(path, rows, tuple(plain_keys(rows[0])))

    def names(self, column: str) -> list[str]:
        """The photo of each row, as `column` names it."""
        (plain,) = plain_keys({column: None})
        if plain not in self.columns:
            raise DataError(f"{self.path} has no column {column!r}; it has {', '.join(self.columns)}")
        names = []
        for number, row in enumerate(self.rows, 1):
            value = plain_keys(row).get(plain)
            value = value.get("path") if isinstance(value, Mapping) else value
            if value is None or not (name := str(value).strip().replace("\\", "/")):
                raise DataError(f"{self.path}, row {number} does not say which photo it is of: `{column}` is empty")
            names.append(name)
        return names

    def truth(self, at: int) -> Row:
        row = self.rows[at]
        point = truth_of(row, f"{self.path}, row {at + 1}").point
        return {**names_of(row), "lat": point.lat, "lon": point.lon} if point is not None else {}


def _choose_columns(answers: _Table, places: _Table) -> tuple[str, str]:
    for usual in (PICTURE_COLUMNS, _OTHER_COLUMNS, PICTURE_COLUMNS + _OTHER_COLUMNS):
        held = [[name for name in usual if name in table.columns] for table in (answers, places)]
        if all(held):
            shared = next((name for name in held[0] if name in held[1]), None)
            return (shared, shared) if shared is not None else (held[0][0], held[1][0])
    without = answers if not held[0] else places
    raise DataError(
        f"{without.path} does not say which photo a row is of: expected {', '.join(PICTURE_COLUMNS[:6])} or id; "
        f"it has {', '.join(without.columns)}. Name the column that both tables have with --by"
    )


def _same_names(
    answers: list[str], places: list[str], paths: tuple[Path, Path], columns: tuple[str, str]
) -> tuple[dict[str, int], dict[str, int]]:
    """Row by name for both tables: as written, or without folder and suffix where that is one name for one row."""
    stems = [_stem(name) for name in answers], [_stem(name) for name in places]
    common, common_stems = len({*answers} & {*places}), len({*stems[0]} & {*stems[1]})
    if not common_stems:
        raise DataError(
            f"{paths[0]} and {paths[1]} have no photo in common: `{columns[0]}` is such as {answers[0]!r}, "
            f"`{columns[1]}` is such as {places[0]!r}. Name the column that both tables have with --by"
        )
    unique = all(len({*names}) == len(names) for names in stems)
    spelled = stems if not common or (common_stems > common and unique) else (answers, places)
    return _row_by_name(spelled[0], paths[0]), _row_by_name(spelled[1], paths[1])


def _row_by_name(names: list[str], path: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for at, name in enumerate(names):
        if (earlier := found.setdefault(name, at)) != at:
            raise DataError(f"{path} has two rows for {name!r}, {earlier + 1} and {at + 1}: leave only one of them")
    return found


def _stem(name: str) -> str:
    path = PurePosixPath(name)
    return path.stem if path.suffix.lower() in PICTURE_SUFFIXES else path.name


def _without_truth(row: Row) -> Row:
    """The row without a column that plain keys take for `ground_truth`."""
    return {key: value for key, value in row.items() if "ground_truth" not in plain_keys({key: None})}
