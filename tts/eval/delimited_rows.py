"""Rows of a text table as programs write it: commas, semicolons or tabs; UTF-8, or UTF-16 with its mark.

Which character parts the fields, the header says, and the row after it where a name holds such a character too. A row
that does not fit the header is refused: its values would stand under the names of others.
"""

from __future__ import annotations

import codecs
import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from tts.errors import DataError

_FIELD_LIMIT = 2**31 - 1
_QUOTED = re.compile(r'"[^"]*"')
_EXCEL_MARK = re.compile(r"sep=([,;\t|])\s*", re.IGNORECASE)  # the first line of tables that Excel is to open


def delimited_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Rows under the names of the header, values as text; rows whose fields are all empty are no rows.

    Raises:
        DataError: the file is no such table, two columns have one name, or a row has more fields than the header.
    """
    csv.field_size_limit(min(sys.maxsize, _FIELD_LIMIT))
    with path.open(newline="", encoding=_encoding(path)) as file:
        try:
            reader = csv.reader(file, delimiter=_find_delimiter(file, "\t" if path.suffix.lower() == ".tsv" else ","))
            header = next((fields for fields in reader if fields), [])
            _check_header(path, header)
            for fields in reader:
                if any(field.strip() for field in fields[len(header) :]):
                    raise DataError(
                        f"{path}, line {reader.line_num} has {len(fields)} fields, the header has {len(header)}: "
                        f"a value that contains {reader.dialect.delimiter!r} must stand in double quotes"
                    )
                if any(fields):
                    yield {**dict.fromkeys(header), **dict(zip(header, fields, strict=False))}
        except UnicodeError as error:
            raise DataError(
                f"{path} is not a UTF-8 table: {error}. Save it as UTF-8, or convert it: "
                f"iconv -f WINDOWS-1252 -t UTF-8 {path.name} > utf8-{path.name}"
            ) from error
        except csv.Error as error:
            raise DataError(f"{path} is not a table: {error}") from error


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def _find_delimiter(file: TextIO, usual: str) -> str:
    """What stands most often between the names of the header and as often in the next row; else only in the header.

    Leaves `file` at the header.
    """
    first = file.readline()
    if (named := _EXCEL_MARK.fullmatch(first)) is not None:
        return named[1]
    file.seek(0)
    counts = Counter(char for char in _QUOTED.sub("", first) if char in ",;\t|")
    if len(counts) < 2:
        return next(iter(counts), usual)
    fits = {char: _has_equal_rows(file, char) for char in counts}
    return max(counts, key=lambda char: (fits[char], counts[char], char == usual))


def _has_equal_rows(file: TextIO, delimiter: str) -> bool:
    """Whether the first two rows have equally many fields; leaves `file` at its beginning."""
    lengths = {len(fields) for fields in islice(csv.reader(file, delimiter=delimiter), 2)}
    file.seek(0)
    return len(lengths) == 1


def _check_header(path: Path, header: Sequence[str]) -> None:
    twice = [name for name, count in Counter(header).items() if name and count > 1]
    if twice:
        raise DataError(f"{path} has two columns named {twice[0]!r}: rename one of them")
