"""One `Idempotency-Key` stands for one request."""

from __future__ import annotations

import asyncio
import hashlib

from deployments.runstore import IdempotencyClaim, RunMeta, RunStore
from tts.domain.request import LocateRequest
from tts.errors import RequestError

_MAX_OPENING_S = 1.0  # from claiming a key to the log of its request, at most


class KeyReused(RequestError):
    """The same Idempotency-Key came with another request."""

    code = "idempotency-key-reused"
    status = 422


def claim_of(request: LocateRequest) -> IdempotencyClaim:
    """The photos as they came, the options and the request that is continued: what a key stands for, as one hash."""
    parts = [*(photo.source_sha256 for photo in request.photos), request.options.model_dump_json()]
    if request.continued is not None:
        parts.append(request.continued.request_id)
    return IdempotencyClaim(request_id=request.id, fingerprint=hashlib.sha256("\n".join(parts).encode()).hexdigest())


async def earlier_request(store: RunStore, meta: RunMeta, mine: IdempotencyClaim) -> str | None:
    """The id of the request that has the idempotency key already; None when it is this one's now.

    A request that never came to be, because its gateway was lost between claim and log, has no right to the key.
    Each that holds it in turn has the time to come to be.

    Raises:
        KeyReused: the key stands for another request.
        StoreUnavailable: the run store does not answer.
    """
    clock, waiting_for, give_up_at = asyncio.get_running_loop().time, "", 0.0
    while (existing := await store.claim(meta.claim, mine)) is not None and existing.request_id != mine.request_id:
        if existing.request_id != waiting_for:
            waiting_for, give_up_at = existing.request_id, clock() + _MAX_OPENING_S
        if await store.meta(existing.request_id) is not None:
            if existing.fingerprint != mine.fingerprint:
                raise KeyReused("this Idempotency-Key was used for another request; use a new one")
            return existing.request_id
        if clock() > give_up_at:
            await store.release(meta.claim, existing.request_id)
        else:
            await asyncio.sleep(_MAX_OPENING_S / 20)
    return None
