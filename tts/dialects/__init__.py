"""The list of dialects. Adding one is one file and one entry here."""

from __future__ import annotations

from tts.dialects.base import Dialect
from tts.dialects.generic import GenericDialect

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (GenericDialect(),)}

__all__ = ["DIALECTS"]
