"""The dialect that serves a row, with the corpus' texts as the user's imported ones."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from geotts_benchmarks.released_rows.corpus import Corpus
from tts.dialects import DIALECTS
from tts.dialects.base import Dialect
from tts.dialects.released.imported_texts import ImportedTexts
from tts.dialects.settings import DialectSettings
from tts.domain.plan import Limits

SYSTEM: Final = "reverse"
PHOTO: Final = (1008, 756)
"""Size of the photo of the rows, as their notes say."""
LARGE_PHOTO: Final = (4000, 3000)
SYSTEM_MARK = "<system>"
USER_MARK = "<user>"


def dialect_for(path: str, corpus: Corpus, *, messages: int | None = None) -> Dialect:
    """`messages`: how many the model may write at most; None for what the system allows."""
    settings: dict[str, Any] = {"behaviour": "released", "released_path": path, **_write_texts(corpus.folder)}
    if messages is not None:
        settings["limits"] = Limits(max_turns=messages, max_tool_calls=256, max_tokens=2**18)
    return DIALECTS[SYSTEM].with_settings(DialectSettings.model_validate(settings))


def nudge_of(corpus: Corpus) -> str | None:
    """The reminder, where the corpus has it."""
    found = corpus.texts(SYSTEM).get("nudge")
    return found["text"] if isinstance(found, dict) else found


@lru_cache(maxsize=4)
def _write_texts(folder: Path) -> dict[str, str]:
    nudge = nudge_of(Corpus(folder))
    texts = ImportedTexts(system=SYSTEM_MARK, task=USER_MARK, texts={"nudge": nudge} if nudge else {})
    return texts.write(Path(_texts_folder().name))


@lru_cache(maxsize=1)
def _texts_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="geotts-conformance-reverse-")
