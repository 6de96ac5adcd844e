"""A network in which every service answers as a row of a corpus says, and which keeps what it was asked."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote_plus

import httpx
from PIL import Image

from tts.errors import FetchError, FetchErrorKind
from tts.net.secret import Credential
from tts.net.transport import CREDENTIAL

_KIND_BY_FAILURE: Final = {"ReadTimeout": FetchErrorKind.TIMEOUT, "ConnectTimeout": FetchErrorKind.TIMEOUT}


class PlayedTransport(httpx.AsyncBaseTransport):
    """`provider` as in a row: `status` and `reply`, or `fails`, or `picture`. `mode` is that of the played picture."""

    def __init__(self, provider: Mapping[str, Any], *, mode: str = "RGB") -> None:
        self._provider = provider
        self._mode = mode
        self.requests: list[dict[str, Any]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The played reply, the same to every request. Raises FetchError where the provider `fails`."""
        self._record_request(request)
        if (failure := self._provider.get("fails")) is not None:
            raise FetchError(str(failure), kind=_KIND_BY_FAILURE.get(str(failure), FetchErrorKind.CONNECT))
        status = int(self._provider.get("status", 200))
        reply = self._provider.get("reply")
        if "picture" in self._provider or reply == "a picture":
            return _response(status, "image/png", _picture(self._provider.get("picture"), self._mode))
        return _response(status, "application/json", json.dumps(reply, ensure_ascii=False).encode())

    def _record_request(self, request: httpx.Request) -> None:
        """The request as the rows write it; a repeat is kept once."""
        credential = request.extensions.get(CREDENTIAL)
        url = unquote_plus(str(request.url))
        if isinstance(credential, Credential) and credential.where == "query":
            url = f"{url}{'&' if '?' in url else '?'}{credential.name}=<key>"
        kept: dict[str, Any] = {"method": request.method, "url": url}
        if request.content:
            kept["json"] = json.loads(request.content)
        if kept not in self.requests:
            self.requests.append(kept)


def _response(status: int, media_type: str, content: bytes) -> httpx.Response:
    stream = httpx.ByteStream(content)
    return httpx.Response(status, headers={"content-type": media_type}, stream=stream)


def _picture(size: Any, mode: str) -> bytes:
    if size is None:
        width, height = 500, 500
    elif isinstance(size, Mapping):
        width, height = size["width"], size["height"]
    else:
        width, height = size
    if not width:
        return b""
    out = io.BytesIO()
    Image.new("RGB", (width, height), (200, 210, 190)).convert(mode).save(out, "PNG")
    return out.getvalue()
