"""How common a word is in 42 languages: used to recognise a language by a few words, and to distinguish common words
from names of places.

A sorted blob of words with their languages and frequencies, memory-mapped. Frequencies come from wordfreq's small lists
(words down to about one in a million) and are given on the Zipf scale: 3 is once in a million words, 6 once in a
thousand.
"""

from __future__ import annotations

import bisect
import importlib.metadata
import json
import mmap
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from tts.errors import DataError
from tts.geodata.names import normalise

_normalise_uncached = normalise.__wrapped__  # a million different words would only push useful names out of its cache

FORMAT_VERSION = 1
_ZIPF_STEP = 0.05  # Zipf units a stored step
_MAX_WORD_LETTERS = 24


class Lexicon:
    """Look-ups take about 10 µs. `languages` are BCP 47 primary tags; `sh` is Serbo-Croatian in Latin letters."""

    def __init__(self, folder: Path) -> None:
        try:
            self.languages: tuple[str, ...] = tuple(json.loads((folder / "meta.json").read_text())["languages"])
            self._offset = np.load(folder / "offset.npy", mmap_mode="r")
            self._start = np.load(folder / "start.npy", mmap_mode="r")
            self._entries = np.load(folder / "entries.npy", mmap_mode="r")
            with (folder / "words.blob").open("rb") as file:
                self._blob = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError, KeyError) as error:
            raise DataError(f"the lexicon is not readable ({error}): run `geotts data build`") from error
        self.frequencies = lru_cache(maxsize=20_000)(self._frequencies)

    def __len__(self) -> int:
        return len(self._offset) - 1

    def _frequencies(self, word: str) -> dict[str, float]:
        """Language → Zipf frequency of a word, as far as it is common at all; compared without case and accents."""
        key = normalise(word).encode()
        at = bisect.bisect_left(range(len(self)), key, key=self._word)
        if not key or at >= len(self) or self._word(at) != key:
            return {}
        entries = self._entries[self._start[at] : self._start[at + 1]]
        return {self.languages[int(e) >> 8]: round((int(e) & 255) * _ZIPF_STEP, 2) for e in entries}

    def zipf(self, word: str) -> float:
        """How common a word is in its most usual language; 0 when it is in no list."""
        return max(self.frequencies(word).values(), default=0.0)

    def _word(self, index: int) -> bytes:
        return bytes(self._blob[self._offset[index] : self._offset[index + 1]])


def source_versions() -> dict[str, str]:
    """Versions of what the built files depend on; a change of any asks for a rebuild."""
    return {"format": str(FORMAT_VERSION), "wordfreq": importlib.metadata.version("wordfreq")}


def build_lexicon(folder: Path, progress: Callable[[str, float], None] = lambda step, share: None) -> None:
    """Write the lexicon into an existing, empty folder. About 10 s and 400 MB of memory."""
    import wordfreq  # noqa: PLC0415 - takes half a second, and only this build reads its lists

    languages = sorted(wordfreq.available_languages("small"))
    found: dict[bytes, dict[int, int]] = defaultdict(dict)
    for number, language in enumerate(languages):
        progress("reading word lists", number / len(languages))
        for step, words in enumerate(wordfreq.get_frequency_list(language, "small")):
            zipf = 9.0 - step / 100.0
            for word in words:
                key = _normalise_uncached(word)
                if 1 <= len(key) <= _MAX_WORD_LETTERS and " " not in key and not key.isdigit():
                    found[key.encode()].setdefault(number, min(255, round(zipf / _ZIPF_STEP)))
    progress("writing the lexicon", 0.95)
    keys = sorted(found)
    (folder / "words.blob").write_bytes(b"".join(keys))
    np.save(folder / "offset.npy", np.cumsum([0] + [len(key) for key in keys], dtype=np.int32))
    np.save(folder / "start.npy", np.cumsum([0] + [len(found[key]) for key in keys], dtype=np.int32))
    entries = [number << 8 | level for key in keys for number, level in sorted(found[key].items())]
    np.save(folder / "entries.npy", np.array(entries, dtype=np.uint16))
    (folder / "meta.json").write_text(json.dumps({"languages": languages}))
    progress("done", 1.0)
