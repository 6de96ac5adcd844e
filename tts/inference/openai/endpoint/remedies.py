"""What a user can do about a failure of an endpoint."""

from __future__ import annotations

import httpx

from tts.config import OpenAIEngine
from tts.config.setting_names import SettingNames
from tts.errors import GeoTTSError

BUSY_STATUS = frozenset({429, 503, 529})


def remedy_for(failure: GeoTTSError, engine: OpenAIEngine, names: SettingNames) -> str:
    """What to do about a failure of this engine: the advice for the refusal if there is one, else that for its kind."""
    if advised := failure.fields.get("mend"):
        return str(advised)
    status = failure.fields.get("http_status")
    if isinstance(status, int):
        return _remedy_for_status(status, engine, names)
    if failure.fields.get("lost") in ("ConnectError", "ConnectTimeout"):
        return f"start the endpoint, or name another one ({names.with_flag('base_url')})"
    if failure.fields.get("transient"):
        return "look into the log of the endpoint: it broke off or stayed silent"
    return ""


def _remedy_for_status(status: int, engine: OpenAIEngine, names: SettingNames) -> str:
    if status == httpx.codes.NOT_FOUND:
        named = f"{engine.model!r} is a model it has ({names.with_flag('model')})" if engine.model else "it has a model"
        return f"check that {named} and that the address is right up to and including /v1 ({names.name('base_url')})"
    if status in BUSY_STATUS:
        return f"try again later, or send it less at a time ({names.name('max_running')})"
    if status >= httpx.codes.INTERNAL_SERVER_ERROR:
        return "look into the log of the endpoint"
    server, tools, extra_body = map(names.name, ("server", "tools", "extra_body"))
    return f"compare {server}, {tools} and {extra_body} with what the endpoint takes"
