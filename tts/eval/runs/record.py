"""One line of a recorded run: the request, its photo, and the complete result.

A request that broke (engine down, server gone) is a *failure* and has no answer; an abstention or a wrong point is an
answer. The two are never added up. The folded run keeps every trajectory, so evaluation, calibration and replay need
no second pass over the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tts.domain.answer import Answer
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.domain.value import Value
from tts.errors import DataError
from tts.eval.rows import read_rows
from tts.eval.runs.journal import lines_of
from tts.eval.sample import Truth

RECORD_VERSION = 1


class Record(Value):
    """`run` is folded from the request's events; its answer stands once, beside it. `config_sha256` names the setup."""

    schema_version: Literal[1] = 1
    dataset: str
    sample: str
    key: str = ""
    tags: tuple[str, ...] = ()
    truth: Truth
    options: LocateOptions
    config_sha256: str = ""
    elapsed_s: float
    failure: str = ""
    answer: Answer | None = None
    run: Run | None = None

    def json_line(self) -> bytes:
        """One line of a run file, without its newline."""
        return self.json_bytes()


def record_from(run: Run, base: Record) -> Record:
    """`base` with what `run` holds: its answer, or why there is none."""
    if run.answer is not None:
        return base.model_copy(update={"answer": run.answer, "run": run.model_copy(update={"answer": None})})
    problem = run.failure.detail if run.failure is not None else "the stream ended without an answer"
    return base.model_copy(update={"failure": problem or "failed", "run": run})


def read_records(path: Path) -> list[Record]:
    """Records of a run file in order; of a sample that was tried again, the last one. A torn last line is left out.

    A file that ends in .parquet is one that `geotts eval convert` made of a run file: it has the same records.

    Raises:
        DataError: naming the line that is not a record of this schema version.
    """
    found: dict[str, Record] = {}
    is_parquet = path.suffix.lower() == ".parquet"
    for number, line in _lines_of_parquet(path) if is_parquet else lines_of(path):
        try:
            record = Record.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise DataError(
                f"{path}, {'row' if is_parquet else 'line'} {number} is not a record of version {RECORD_VERSION}: "
                f"{where} {first['msg']}. Run files come from `geotts eval run`; `geotts eval score` reads outputs of "
                "other systems"
            ) from error
        found[record.sample] = record
    if not found:
        raise DataError(f"{path} holds no records")
    return list(found.values())


def _lines_of_parquet(path: Path) -> Iterator[tuple[int, str]]:
    for number, row in enumerate(read_rows(path), 1):
        yield number, str(row.get("record") or "{}")
