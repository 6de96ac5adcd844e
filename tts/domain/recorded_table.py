"""A table that is fitted to recorded runs and lies in a YAML file, which says where it is from."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

import yaml

from tts.domain.kind_of_n import FittedKind
from tts.domain.value import Value


class RecordedTable(Value):
    """`origin`: the runs, in one line. `command`: how the table was made of them. `kind_of_n`: whether the rollouts of
    a request were samples of one policy or of a mixture of models.
    """

    schema_version: Literal[1] = 1
    origin: str
    command: str = ""
    kind_of_n: FittedKind = FittedKind.NOT_STATED

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises OSError, or ValueError for a file that is not in its form."""
        try:
            return cls.model_validate(yaml.load(path.read_text("utf-8"), yaml.CSafeLoader))
        except yaml.YAMLError as error:
            raise ValueError(f"{path.name} is not YAML: {error}") from error

    def heading(self, rows: str) -> str:
        """As YAML, without the field that has the rows."""
        about = self.model_dump(mode="json", exclude={rows})
        return yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=120)
