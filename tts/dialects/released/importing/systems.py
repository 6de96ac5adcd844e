"""The systems whose texts can be imported. Adding one is one file and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tts.dialects.released.imported import ImportedTexts
from tts.dialects.released.importing import geoagent, geovista, reverse, thinking_with_map

IMPORTERS: Final[Mapping[str, Callable[[Path], dict[str, ImportedTexts]]]] = {
    "thinking_with_map": thinking_with_map.read,
    "reverse": reverse.read,
    "geoagent": geoagent.read,
    "geovista": geovista.read,
}
IMPORTABLE: Final = frozenset(IMPORTERS)
