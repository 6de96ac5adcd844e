"""HTTP to one endpoint: time limits, failures and refusals as errors of GeoTTS, and no secrets in their messages."""

from __future__ import annotations

import asyncio
import os
from functools import lru_cache
from typing import Any

import httpx

from tts.aio import Deadline
from tts.config import OpenAIEngine
from tts.config.setting_names import OF_ENGINE, SettingNames
from tts.domain.outgoing_request import Outgoing
from tts.egress.records import EGRESS
from tts.errors import DeadlineExceeded, GeoTTSError, ModelError, Overloaded
from tts.inference.openai.endpoint.advice import advice, lacks_quota, overflows_context
from tts.inference.openai.endpoint.refusal import Refusal
from tts.inference.openai.endpoint.remedies import BUSY_STATUS
from tts.inference.openai.retry import RETRIED_STATUS, retry_after_s
from tts.net.closing_backend import closing_transport
from tts.net.secret import Scrubber, Secret

MAX_REPLY_BYTES = 64 * 2**20  # a chunk of a streamed reply has at most some hundred bytes a token
_TRANSFER_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class Connection:
    """To `base_url` of an engine, with its key; a client of its own for each loop, as connections belong to one."""

    def __init__(
        self, config: OpenAIEngine, transport: httpx.AsyncBaseTransport | None = None, names: SettingNames = OF_ENGINE
    ) -> None:
        self._config = config
        self._names = names
        self._transport = transport
        self._http: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scrubber = Scrubber()
        self._scrubber.guard("httpx", "httpcore.connection", "httpcore.http11")

    async def aclose(self) -> None:
        """Close idle connections."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def post(
        self, path: str, body: bytes, headers: dict[str, str], deadline: Deadline, patience_s: float, request_id: str
    ) -> httpx.Response:
        """The response to a JSON body, its own body not yet read: close it. `request_id`: for whom it is sent."""
        request = self.client.build_request("POST", self.url(path), content=body, headers=headers)
        response: httpx.Response = await self.wait_for_network(self._send(request, request_id), deadline, patience_s)
        return response

    async def ask(
        self, method: str, path: str, body: Any, deadline: Deadline, patience_s: float, request_id: str
    ) -> httpx.Response:
        """The whole response to a short question; `body` is sent as JSON unless it is None."""
        asked = self._ask_endpoint(self.client.build_request(method, self.url(path), json=body), request_id)
        response: httpx.Response = await self.wait_for_network(asked, deadline, patience_s)
        return response

    async def _send(self, request: httpx.Request, request_id: str) -> httpx.Response:
        """The head of the response. Everything that leaves for an endpoint goes through here, and is recorded here."""
        host, url = _host_and_url(str(request.url))
        EGRESS.record(
            Outgoing.now(
                host=host, method=request.method, url=url, bytes_sent=len(request.content), request_id=request_id
            )
        )
        return await self.client.send(request, stream=True)

    async def _ask_endpoint(self, request: httpx.Request, request_id: str) -> httpx.Response:
        response = await self._send(request, request_id)
        try:
            content = await _read_bounded(response)
        finally:
            await response.aclose()
        headers = {name: value for name, value in response.headers.items() if name not in _TRANSFER_HEADERS}
        return httpx.Response(response.status_code, headers=headers, content=content, request=request)

    async def read_body(self, response: httpx.Response, deadline: Deadline, patience_s: float) -> bytes:
        """The body of a response. Raises ModelError when it has more than `MAX_REPLY_BYTES`."""
        content: bytes = await self.wait_for_network(_read_bounded(response), deadline, patience_s)
        return content

    async def wait_for_network(self, awaitable: Any, deadline: Deadline, patience_s: float) -> Any:
        """Wait for the network: at most `patience_s`, never beyond the deadline, and name what went wrong."""
        try:
            async with deadline.timeout(at_most_s=patience_s):
                return await awaitable
        except TimeoutError as late:
            if deadline.has_passed:
                raise DeadlineExceeded("the endpoint did not finish in time") from late
            raise ModelError(f"the endpoint was silent for {patience_s:g} s", transient=True) from late
        except httpx.InvalidURL as error:
            raise ModelError("the address of the endpoint is no URL") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise ModelError(
                f"the connection to the endpoint failed: {type(error).__name__}",
                transient=True,
                lost=type(error).__name__,
            ) from error

    async def refusal(self, response: httpx.Response, deadline: Deadline) -> Refusal:
        """Read an error response, with keys scrubbed from it. Raises what `read_body` and `wait_for_network` raise."""
        raw = await self.read_body(response, deadline, self._config.idle_s)
        return Refusal.from_body(response.status_code, self._scrubber.scrub_bytes(raw))

    def failure(self, refusal: Refusal, response: httpx.Response) -> GeoTTSError:
        """Overloaded, or ModelError: what the endpoint says about it, and what to do."""
        status = refusal.status
        message = f"the endpoint answered {status}{refusal.line and ': ' + refusal.line}"
        mend = advice(refusal, self._names, key_env=self._config.api_key_env)
        detail = f"{message} ({mend})" if mend else message
        after = retry_after_s(response.headers.get("retry-after"))
        if lacks_quota(refusal):
            return ModelError(detail, http_status=status, mend=mend)
        if status in BUSY_STATUS:
            wait_s = 1.0 if after is None else after
            return Overloaded(detail, retry_after_s=wait_s, transient=True, http_status=status)
        transient = status in RETRIED_STATUS
        about = "context" if overflows_context(refusal) else ""
        return ModelError(detail, transient=transient, retry_after_s=after, http_status=status, mend=mend, about=about)

    def url(self, path: str) -> str:
        """Below the base URL; a path that begins with a slash is one from the root of the server."""
        if path.startswith("/"):
            return str(httpx.URL(self._config.base_url).copy_with(path=path, query=None))
        return f"{self._config.base_url.rstrip('/')}/{path}"

    @property
    def client(self) -> httpx.AsyncClient:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        if self._http is None or self._loop is not loop:
            key = os.environ.get(self._config.api_key_env, "")
            self._scrubber.learn(Secret(key))
            self._loop = loop
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=self._config.max_running)
            self._http = httpx.AsyncClient(
                headers={"Authorization": f"Bearer {key}"} if key else {},
                timeout=httpx.Timeout(None, connect=self._config.connect_s),
                transport=self._transport or closing_transport(limits),
                trust_env=False,
            )
        return self._http


@lru_cache(maxsize=16)
def _host_and_url(url: str) -> tuple[str, str]:
    """The host of a URL, and the URL without what may be a secret."""
    bare = httpx.URL(url).copy_with(userinfo=b"", query=None)
    return bare.host, str(bare)


def check_size(received: int) -> None:
    """Raises ModelError for a reply of more than `MAX_REPLY_BYTES`, which no model writes."""
    if received > MAX_REPLY_BYTES:
        raise ModelError(f"the endpoint sent more than {MAX_REPLY_BYTES // 2**20} MiB as one reply")


async def _read_bounded(response: httpx.Response) -> bytes:
    found = bytearray()
    async for piece in response.aiter_bytes():
        found += piece
        check_size(len(found))
    return bytes(found)
