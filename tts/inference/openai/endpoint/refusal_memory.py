"""Stores what endpoints refused, so that a refusal costs one call a week and not one call in each process.

One private JSON file under the user's cache folder. An entry is of one base URL and model, and holds as long as the
server says the same of itself (kind, version, context, slots) and for some days at most; then every form is tried
again. Processes that write at the same time lock the file and keep each other's entries. A damaged file is ignored.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import Field, ValidationError

from tts.domain.value import Value
from tts.inference.openai.endpoint.traits import EndpointTraits
from tts.net.url_secrets import bare_url
from tts.private_files import make_private

_DAY_S = 86_400.0
_MAX_ENTRIES = 256
_LOCK_TRIES = 500
_LOCK_PAUSE_S = 0.02
_log = logging.getLogger(__name__)


class _Entry(Value):
    """`server` is what the server said of itself, `since` when this was learned, in seconds since 1970."""

    server: str
    since: Annotated[float, Field(ge=0)]
    traits: EndpointTraits


class _File(Value):
    endpoints_version: Literal[1] = 1
    entries: dict[str, _Entry] = {}


class EndpointMemory:
    """Of one base URL. `days` is how long an entry holds; 0 remembers nothing."""

    def __init__(
        self, base_url: str, days: float, path: Path | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._url = bare_url(base_url)
        self._ttl_s = days * _DAY_S
        self._clock = clock
        self._path = (path or _default_file()) if days > 0 else None

    def recall(self, model: str, server: str | None = None) -> EndpointTraits | None:
        """What is known of a model here; with `server` only where the server said the same then. Reads a small file."""
        entry = self._read_entries().get(self._entry_name(model))
        if entry is None or (server is not None and entry.server != server):
            return None
        return entry.traits

    def keep(self, model: str, server: str, traits: EndpointTraits) -> None:
        """Store the traits, together with the entries of other processes. A folder that cannot be written is logged."""
        if self._path is None:
            return
        try:
            make_private(self._path)
            with _lock_file(self._path.with_suffix(".lock")):
                self._write(self._merge_entry(self._entry_name(model), server, traits))
        except OSError as error:
            _log.warning("what endpoints take is not remembered: %s: %s", self._path, error.strerror or error)

    def _entry_name(self, model: str) -> str:
        return f"{self._url} {model}"

    def _merge_entry(self, name: str, server: str, traits: EndpointTraits) -> dict[str, _Entry]:
        entries, since = self._read_entries(), self._clock()
        before = entries.get(name)
        if before is not None and before.server == server:
            traits, since = before.traits.narrow(traits), before.since
        entries[name] = _Entry(server=server, since=since, traits=traits)
        return dict(sorted(entries.items(), key=lambda item: item[1].since)[-_MAX_ENTRIES:])

    def _read_entries(self) -> dict[str, _Entry]:
        """What the file says and still holds."""
        try:
            raw = self._path.read_bytes() if self._path is not None else b""
            entries = _File.model_validate_json(raw).entries if raw else {}
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            why = "it is damaged" if isinstance(error, ValidationError) else error.strerror
            _log.warning("what was remembered of endpoints is not used: %s: %s", self._path, why)
            return {}
        now = self._clock()
        return {name: entry for name, entry in entries.items() if 0 <= now - entry.since < self._ttl_s}

    def _write(self, entries: dict[str, _Entry]) -> None:
        """In place of the file, whole or not at all."""
        assert self._path is not None
        unfinished = self._path.with_suffix(f".{os.getpid()}.tmp")
        tree: dict[str, Any] = _File(entries=entries).model_dump(mode="json", exclude_defaults=True)
        make_private(unfinished)
        unfinished.write_text(json.dumps({"endpoints_version": 1} | tree, indent=1, sort_keys=True))
        os.replace(unfinished, self._path)


def _default_file() -> Path | None:
    """`$GEOTTS_ENDPOINT_MEMORY`, where `off` is none, else in the user's cache."""
    named = os.environ.get("GEOTTS_ENDPOINT_MEMORY", "")
    if named == "off":
        return None
    return Path(named).expanduser() if named else platformdirs.user_cache_path("geotts") / "endpoints.json"


@contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    """Alone among the processes that write. Raises OSError where another keeps the lock for ten seconds."""
    make_private(path)
    with path.open("r+b") as handle:
        for tries in range(_LOCK_TRIES):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if tries == _LOCK_TRIES - 1:
                    raise
                time.sleep(_LOCK_PAUSE_S)
        yield
