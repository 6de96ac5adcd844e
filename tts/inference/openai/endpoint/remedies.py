"""What a user can do about a failure of an endpoint."""

from __future__ import annotations

import httpx

from tts.config import OpenAIEngine
from tts.errors import GeoTTSError

_BUSY = frozenset({429, 503, 529})


def remedy_for(failure: GeoTTSError, engine: OpenAIEngine) -> str:
    """What to do about a failure of this engine: the advice for the refusal if there is one, else that for its kind."""
    if advised := failure.fields.get("mend"):
        return str(advised)
    status = failure.fields.get("http_status")
    if isinstance(status, int):
        return _about_status(status, engine)
    if failure.fields.get("lost") in ("ConnectError", "ConnectTimeout"):
        return "start the endpoint, or name another one (engine.base_url, --endpoint)"
    if failure.fields.get("transient"):
        return "look into the log of the endpoint: it broke off or stayed silent"
    return ""


def _about_status(status: int, engine: OpenAIEngine) -> str:
    if status == httpx.codes.NOT_FOUND:
        named = f"{engine.model!r} is a model it has (engine.model, --model)" if engine.model else "it has a model"
        return f"check that {named} and that the address is right up to and including /v1 (engine.base_url)"
    if status in _BUSY:
        return "try again later, or send it less at a time (engine.max_running)"
    if status >= httpx.codes.INTERNAL_SERVER_ERROR:
        return "look into the log of the endpoint"
    return "compare engine.server, engine.tools and engine.extra_body with what the endpoint takes"
