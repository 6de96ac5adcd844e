"""`Idempotency-Key`: the same request under the same key never runs twice (an IETF draft of the HTTPAPI group)."""

from __future__ import annotations

import re

from starlette.requests import Request

from deployments.http.request_body import Malformed

_KEY = re.compile(r"[\x21-\x7e]{1,200}")


def idempotency_key(request: Request) -> str | None:
    """The key of a request, None without one. Raises Malformed for one that is none."""
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    key = key.strip('"')
    if not _KEY.fullmatch(key):
        raise Malformed("Idempotency-Key must be 1 to 200 visible ASCII characters")
    return key
