"""Upload tickets: a photo is kept for a few minutes under an id, so that a model names the id and never gets the
bytes."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections import deque
from datetime import UTC, datetime

from pydantic import Field

from deployments.gateway.auth import Caller, TooManyRequests
from deployments.runstore import RunMeta, RunStore
from tts.domain.photo import PhotoProblem
from tts.domain.value import Value
from tts.errors import NotFound, PhotoError
from tts.ports.toolbox import Attachment

KEPT_S = 600.0
_MAX_UNUSED_UPLOADS = 32  # of one caller at this gateway at once
_TICKET = re.compile(r"upl_[0-9a-f]{32}")


class Ticket(Value):
    """An upload ticket: it stands for a photo until it expires, for the caller that uploaded it."""

    upload_id: str = Field(description="the ticket: a name for the photo in later calls")
    sha256: str = Field(description="SHA-256 of the bytes as they were sent, in hexadecimal digits")
    bytes: int = Field(description="size of the photo in bytes")
    expires_at: str = Field(description="when the ticket expires (RFC 3339, UTC)")


class Uploads:
    """Photos as they were sent, in the run store under the ticket: any gateway that shares the store has them."""

    def __init__(self, store: RunStore, *, max_bytes: int) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._waiting_uploads: deque[tuple[float, str, str]] = deque()

    async def add(self, data: bytes, caller: Caller) -> Ticket:
        """Keep a photo for `KEPT_S`.

        Raises:
            PhotoError: it is empty or has more bytes than a photo may have.
            TooManyRequests: the caller has 32 uploads waiting here.
        """
        if not 0 < len(data) <= self._max_bytes:
            raise PhotoError.from_reason(
                PhotoProblem.TOO_LARGE if data else PhotoProblem.EMPTY,
                f"a photo must have 1 to {self._max_bytes:,} bytes; this one has {len(data):,}",
            )
        await self.sweep()
        if sum(tenant == caller.name for _, _, tenant in self._waiting_uploads) >= _MAX_UNUSED_UPLOADS:
            raise TooManyRequests(
                f"this key has {_MAX_UNUSED_UPLOADS} unused uploads: use them first", retry_after_s=30.0
            )
        upload_id, sha256 = f"upl_{secrets.token_hex(16)}", hashlib.sha256(data).hexdigest()
        until = time.time() + KEPT_S
        self._waiting_uploads.append((until, upload_id, caller.name))
        expires_at = datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        meta = RunMeta(request_id=upload_id, tenant=caller.name, photos=(sha256,), started_at=expires_at)
        await self._store.open(meta, lease_s=KEPT_S)
        await self._store.attach(upload_id, Attachment(sha256=sha256, media_type="application/octet-stream", data=data))
        await self._store.close(meta)
        return Ticket(upload_id=upload_id, sha256=sha256, bytes=len(data), expires_at=expires_at)

    async def photo(self, upload_id: str, caller: Caller) -> bytes:
        """The bytes behind a ticket, as often as they are asked for. Raises NotFound when it is none of the caller's,
        or past its time."""
        meta = await self._store.meta(upload_id) if _TICKET.fullmatch(upload_id) else None
        if meta is None or meta.tenant != caller.name or _has_expired(meta.started_at):
            raise NotFound(
                "there is no such upload: it never existed, it belongs to another key, or its 10 minutes have passed"
            )
        found = await self._store.file(upload_id, meta.photos[0])
        if found is None:
            raise NotFound("there is no such upload any more")
        return found.data

    async def sweep(self, *, everything: bool = False) -> None:
        """Erase what is past its time; `everything`: this gateway ends, and its tickets with it."""
        while self._waiting_uploads and (everything or self._waiting_uploads[0][0] < time.time()):
            await self._store.erase(self._waiting_uploads.popleft()[1])


def _has_expired(expires_at: str) -> bool:
    return datetime.now(UTC) > datetime.fromisoformat(expires_at)
