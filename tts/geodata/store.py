"""Built data on disk: made once per user, versioned, checksummed, rebuilt when it is corrupt or out of date.

A data set is a folder `<root>/<name>` with a `manifest.json` that lists every file with its SHA-256. It is built in a
temporary folder under a lock and renamed into place: a reader never sees half of one, two builders do not collide.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Literal, TypeVar
from weakref import WeakValueDictionary

import platformdirs

from tts.errors import DataError
from tts.geodata import build, lexicon
from tts.geodata.gazetteer import Gazetteer
from tts.geodata.lexicon import Lexicon
from tts.geodata.maps import build as maps
from tts.geodata.maps.cartographer import Cartographer

_Part = TypeVar("_Part")
State = Literal["ready", "missing", "outdated", "corrupt"]
Progress = Callable[[str, float], None]
GAZETTEER = "gazetteer"
LEXICON = "lexicon"
MAPS = "maps"
_MANIFEST = "manifest.json"
_OPEN_PARTS: WeakValueDictionary[tuple[tuple[str, int, int], ...], Any] = (
    WeakValueDictionary()
)  # closed when nobody uses it
_OPEN_LOCK = RLock()  # opening the maps opens the gazetteer


@dataclass(frozen=True, slots=True)
class DataSet:
    """How a data set is made, and from which versions of which packages."""

    name: str
    build: Callable[[Path, Progress], None]
    versions: Callable[[], dict[str, str]]


DATA_SETS = (
    DataSet(GAZETTEER, build.build_gazetteer, build.source_versions),
    DataSet(LEXICON, lexicon.build_lexicon, lexicon.source_versions),
    DataSet(MAPS, maps.build_maps, maps.source_versions),
)


@dataclass(frozen=True, slots=True)
class DataStatus:
    """State of one data set on disk. `size_bytes` and `versions` are its manifest's; `detail` says what is wrong."""

    name: str
    state: State
    path: Path
    size_bytes: int
    versions: dict[str, str]
    detail: str = ""


class DataStore:
    """The built data under one root: `data_dir` of the configuration, else GEOTTS_DATA_DIR, else a user cache."""

    def __init__(self, root: str | Path | None = None, data_sets: tuple[DataSet, ...] = DATA_SETS) -> None:
        chosen = root or os.environ.get("GEOTTS_DATA_DIR") or platformdirs.user_cache_path("geotts")
        self.root = Path(chosen).expanduser()
        self._data_sets = data_sets

    def gazetteer(self) -> Gazetteer:
        """The gazetteer of this process. Raises DataError when it has not been built, is corrupt or outdated."""
        return self._shared_reader(Gazetteer, GAZETTEER)

    def lexicon(self) -> Lexicon:
        """The lexicon of this process. Raises DataError when it has not been built, is corrupt or outdated."""
        return self._shared_reader(Lexicon, LEXICON)

    def cartographer(self) -> Cartographer:
        """The map data of this process. Raises DataError when it has not been built, is corrupt or outdated."""
        return self._shared_reader(lambda folder: Cartographer(folder, self.gazetteer()), MAPS, GAZETTEER)

    @property
    def ready(self) -> bool:
        """Whether everything is there, by a look at sizes and versions only."""
        return all(status.state == "ready" for status in self.status(deep=False))

    def status(self, *, deep: bool = True) -> tuple[DataStatus, ...]:
        """State of every data set; `deep` compares every checksum (0.2 s), otherwise sizes only."""
        return tuple(self._status(data_set, deep=deep) for data_set in self._data_sets)

    def ensure(self, progress: Progress = lambda step, share: None, *, force: bool = False) -> tuple[DataStatus, ...]:
        """Build what is missing, outdated or corrupt; returns the states afterwards. Safe from many processes."""
        for data_set in self._data_sets:
            if force or self._status(data_set, deep=True).state != "ready":
                with self._lock():
                    if force or self._status(data_set, deep=True).state != "ready":
                        self._build(data_set, progress)
        after = self.status()
        for status in after:
            if status.state != "ready":
                raise DataError(f"the {status.name} was built but is {status.state}: {status.detail}")
        return after

    def clean(self) -> int:
        """Remove all built data; returns the number of bytes freed."""
        freed = 0
        for data_set in self._data_sets:
            folder = self.root / data_set.name
            if folder.exists():
                freed += sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
                shutil.rmtree(folder)
        return freed

    def _shared_reader(self, open_part: Callable[[Path], _Part], *names: str) -> _Part:
        """What reads the first of these data sets: one for all who use it, because each has dozens of files open. After
        one of the data sets was built again, a new one."""
        folders = [self._ready_folder(name) for name in names]
        key = tuple(_build_identity(folder) for folder in folders)
        with _OPEN_LOCK:
            part: _Part | None = _OPEN_PARTS.get(key)
            if part is None:
                _OPEN_PARTS[key] = part = open_part(folders[0])
            return part

    def _ready_folder(self, name: str) -> Path:
        status = next(status for status in self.status(deep=False) if status.name == name)
        if status.state != "ready":
            raise DataError(f"the {name} is {status.state} ({status.detail}): run `geotts data build`")
        return status.path

    def _status(self, data_set: DataSet, *, deep: bool) -> DataStatus:
        folder = self.root / data_set.name
        try:
            manifest = json.loads((folder / _MANIFEST).read_text())
            files: dict[str, dict[str, str | int]] = manifest["files"]
            versions: dict[str, str] = manifest["versions"]
        except FileNotFoundError:
            return DataStatus(data_set.name, "missing", folder, 0, {}, "never built here")
        except (OSError, ValueError, KeyError) as error:
            return DataStatus(data_set.name, "corrupt", folder, 0, {}, f"manifest: {error}")
        size = sum(int(entry["bytes"]) for entry in files.values())
        if (detail := _describe_damage(folder, files, deep=deep)) is not None:
            return DataStatus(data_set.name, "corrupt", folder, size, versions, detail)
        if versions != data_set.versions():
            return DataStatus(data_set.name, "outdated", folder, size, versions, "made from other package versions")
        return DataStatus(data_set.name, "ready", folder, size, versions)

    def _build(self, data_set: DataSet, progress: Progress) -> None:
        with tempfile.TemporaryDirectory(prefix=".build-", dir=self.root) as temporary:
            made = Path(temporary) / data_set.name
            made.mkdir()
            data_set.build(made, progress)
            files = {
                path.name: {"bytes": path.stat().st_size, "sha256": _sha256(path)} for path in sorted(made.iterdir())
            }
            manifest = {"versions": data_set.versions(), "files": files}
            (made / _MANIFEST).write_text(json.dumps(manifest, indent=1))
            final = self.root / data_set.name
            if final.exists():
                shutil.rmtree(final)
            made.rename(final)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            handle = (self.root / ".lock").open("w")
        except OSError as error:
            raise DataError(f"cannot write to {self.root} ({error.strerror}): set GEOTTS_DATA_DIR") from error
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def _build_identity(folder: Path) -> tuple[str, int, int]:
    """Differs after each build of a data set."""
    manifest = (folder / _MANIFEST).stat()
    return str(folder), manifest.st_ino, manifest.st_mtime_ns


def _describe_damage(folder: Path, files: dict[str, dict[str, str | int]], *, deep: bool) -> str | None:
    for name, entry in files.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != entry["bytes"]:
            return f"{name} is missing or has another size"
        if deep and _sha256(path) != entry["sha256"]:
            return f"{name} does not match its checksum"
    return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
