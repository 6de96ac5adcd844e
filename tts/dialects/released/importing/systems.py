"""The systems whose texts can be imported. Adding one is one file and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tts.dialects.released.imported_texts import ImportedTexts
from tts.dialects.released.importing import geoagent_texts, geovista_texts, reverse_texts, thinking_with_map_texts

IMPORTERS: Final[Mapping[str, Callable[[Path], dict[str, ImportedTexts]]]] = {
    "thinking_with_map": thinking_with_map_texts.read_texts,
    "reverse": reverse_texts.read_texts,
    "geoagent": geoagent_texts.read_texts,
    "geovista": geovista_texts.read_texts,
}
IMPORTABLE: Final = frozenset(IMPORTERS)
