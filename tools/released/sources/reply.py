"""A reply of a service as it came."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tts.errors import ToolError, ToolErrorKind
from tts.net.http_client import HttpReply

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RawReply:
    """Status and JSON body. Numbers are read by the standard library: 54.0 stays 54.0 and 18 stays 18."""

    status: int
    body: Any


def raw_reply(fetched: HttpReply) -> RawReply:
    """Read the body of a reply as JSON.

    Args:
        fetched: a whole reply, of any status.

    Returns:
        The status and the body; the body may be any JSON value.

    Raises:
        ToolError: UNAVAILABLE when the body is not JSON.
    """
    try:
        return RawReply(fetched.status, json.loads(fetched.content))
    except ValueError:
        raise ToolError("the reply is not JSON", kind=ToolErrorKind.UNAVAILABLE) from None
