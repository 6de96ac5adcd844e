"""One `Idempotency-Key` stands for one request."""

from __future__ import annotations

import hashlib

from deployments.runstore import Claim
from tts.domain.request import LocateRequest
from tts.errors import RequestError


class KeyReused(RequestError):
    """The same Idempotency-Key came with another request."""

    code = "idempotency-key-reused"
    status = 422


def claim_of(request: LocateRequest) -> Claim:
    """The photos as they came, the options and the request that is continued: what a key stands for, as one hash."""
    asked = [*(photo.source_sha256 for photo in request.photos), request.options.model_dump_json()]
    if request.continued is not None:
        asked.append(request.continued.request_id)
    return Claim(request_id=request.id, fingerprint=hashlib.sha256("\n".join(asked).encode()).hexdigest())
