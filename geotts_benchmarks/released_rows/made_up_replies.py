"""How a made-up reply of the corpus reached the released code: as a body, or as the error of its HTTP library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FIRST_ERROR_STATUS = 400
_FIRST_SERVER_ERROR_STATUS = 500


def http_failure(reply: Mapping[str, Any]) -> str | None:
    """The text of the exception for a bad status; None where a body came.

    The replies have neither a reason phrase nor an address; the corpus was made with these.
    """
    status = reply.get("status")
    if not isinstance(status, int) or status < _FIRST_ERROR_STATUS:
        return None
    side = "Client" if status < _FIRST_SERVER_ERROR_STATUS else "Server"
    return f"{status} {side} Error: made up for url: https://provider.test/"
