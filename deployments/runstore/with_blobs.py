"""A run store that keeps the bytes of files in a blob store, and a reference to them in itself (ADR 0038).

Invariants: a file is returned only if the run store still knows it. Erasing a request removes its bytes first; if this
fails, the request still exists and can be erased again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from deployments.runstore.blobs import BlobStore
from deployments.runstore.port import RunStore
from deployments.runstore.run_meta import RunMeta
from tts.aio import run_to_end
from tts.ports.toolbox import Attachment

_REFERENCE_PREFIX = b"blob:"
_MINUTE_S = "%Y%m%dT%H%M"
_MAX_KNOWN_FOLDERS = 10_000


class RunStoreWithBlobs:
    """`store` and `blobs` as one run store. `wall` gives Unix seconds, for what is past its retention.

    Everything that is not defined here is as the store does it. The bytes of the requests of a case stay, because the
    store still knows these requests.
    """

    def __init__(
        self, store: RunStore, blobs: BlobStore, retention_s: float, *, wall: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._retention_s = retention_s
        self._wall_clock = wall
        self._folders: dict[str, str] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what Python looks for in a copy that has no attributes yet
            raise AttributeError(name)
        return getattr(self._store, name)

    async def open(self, meta: RunMeta, *, lease_s: float, max_open: int | None = None) -> bool:
        """As the store does."""
        opened = await self._store.open(meta, lease_s=lease_s, max_open=max_open)
        if opened:
            self._remember(meta)
        return opened

    async def attach(self, request_id: str, attachment: Attachment) -> None:
        """Put the bytes away, then their reference into the store. Of a request erased meanwhile nothing stays."""
        folder = await self._find_folder(request_id)
        if folder is not None:  # to its end: what is written after an erasure would stay
            await run_to_end(self._put_attachment(request_id, folder, attachment), name=f"attach to {request_id}")

    async def close(self, meta: RunMeta) -> bool:
        """As the store does."""
        self._folders.pop(meta.request_id, None)
        return await self._store.close(meta)

    async def file(self, request_id: str, sha256: str) -> Attachment | None:
        """The file behind its reference; as it is where it was attached without a blob store."""
        found = await self._store.file(request_id, sha256)
        if found is None or not found.data.startswith(_REFERENCE_PREFIX):
            return found
        folder = found.data.removeprefix(_REFERENCE_PREFIX).decode()
        data = await self._blobs.get(f"{folder}/{sha256}")
        return None if data is None else found.model_copy(update={"data": data})

    async def erase(self, request_id: str) -> bool:
        """Remove the bytes, then all that the store knows."""
        if (folder := await self._find_folder(request_id)) is not None:
            await self._blobs.remove(folder)
        self._folders.pop(request_id, None)
        return await self._store.erase(request_id)

    async def ping(self) -> None:
        """Both must be well: a blob is written and removed, too."""
        await self._store.ping()
        probe = f"{self._minute_text(self._wall_clock())}/probe"
        await self._blobs.put(f"{probe}/0", bytes(4096))
        await self._blobs.remove(probe)

    async def purge(self) -> None:
        """Purge the store, then remove the bytes of requests that it has forgotten and whose retention is over.

        A request is not looked for before its retention is over, so that each is asked for about once.
        """
        await self._store.purge()
        past = self._minute_text(self._wall_clock() - self._retention_s)
        for minute in sorted(await self._blobs.names()):
            if minute >= past:
                return
            requests = await self._blobs.names(minute)
            missing = [request_id for request_id in requests if await self._store.meta(request_id) is None]
            for request_id in missing:
                await self._blobs.remove(f"{minute}/{request_id}")
            if len(missing) == len(requests):
                await self._blobs.remove(minute)

    async def _put_attachment(self, request_id: str, folder: str, attachment: Attachment) -> None:
        await self._blobs.put(f"{folder}/{attachment.sha256}", attachment.data)
        reference = attachment.model_copy(update={"data": _REFERENCE_PREFIX + folder.encode()})
        await self._store.attach(request_id, reference)
        if await self._store.meta(request_id) is None:
            await self._blobs.remove(folder)

    async def _find_folder(self, request_id: str) -> str | None:
        """Where the bytes of a request lie; None when the request is not known."""
        if (known := self._folders.get(request_id)) is not None:
            return known
        meta = await self._store.meta(request_id)
        return None if meta is None else self._remember(meta)

    def _remember(self, meta: RunMeta) -> str:
        try:
            began = datetime.fromisoformat(meta.started_at).timestamp()
        except ValueError:
            began = 0.0
        folder = f"{self._minute_text(began)}/{meta.request_id}"
        if len(self._folders) >= _MAX_KNOWN_FOLDERS:
            self._folders.pop(next(iter(self._folders)))
        self._folders[meta.request_id] = folder
        return folder

    @staticmethod
    def _minute_text(at: float) -> str:
        return datetime.fromtimestamp(at, UTC).strftime(_MINUTE_S)
