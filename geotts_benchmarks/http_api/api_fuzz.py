"""Requests nobody should send: mutated pictures, broken multipart, wrong JSON, abused headers, slow and cut bodies."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx
import orjson

from geotts_benchmarks.plain_photo import plain_photo

_FIELDS = (
    "n_parallel", "depth", "dialect", "hint", "tools", "target_radius_km", "within", "deadline_s", "max_tokens_total",
    "max_tool_calls", "resume_grace_s", "seed", "include", "exif", "image", "speed", "",
)  # fmt: skip
_VALUES = (
    "", "0", "1", "-1", "1e309", "NaN", "null", "true", "[]", "{}", '{"kind":"bbox"}', "deep", "auto", "full",
    "🗼\u202e",
    "'; DROP TABLE runs;--", "../../etc/passwd", "A" * 3000, "9" * 40, "\x00", "[" * 500, '["a","b"]', "0.5",
)  # fmt: skip
_HEADERS = (
    ("Accept", "text/event-stream"), ("Accept", "application/x-ndjson"), ("Accept", "\xff\xfe"), ("Accept", "*/*;q=x"),
    ("Prefer", "respond-async"), ("Prefer", "wait=1e9"), ("Prefer", ",,=;="), ("Idempotency-Key", "k"),
    ("Idempotency-Key", " "), ("Idempotency-Key", "x" * 5000), ("Last-Event-ID", "-1"), ("Last-Event-ID", "٣"),
    ("traceparent", "00-0-0-00"), ("X-Request-Timeout-Seconds", "0"), ("Authorization", "Bearer \xa0"),
    ("Origin", "null"),
    ("Content-Encoding", "gzip"), ("Expect", "100-continue"), ("Host", "evil.example"), ("Cookie", "a=" * 900),
)  # fmt: skip
_PATHS = (
    "/", "/locate", "/locate/", "/locate/loc_0", "/locate/loc_" + "0" * 20, "/locate/loc_" + "f" * 20 + "/events",
    "/locate/%00", "/locate/..%2f..%2fetc/files/" + "a" * 64, "/v1/models", "/v1/models/x", "/metrics", "/healthz",
    "/readyz", "/openapi.json", "/v1/chat/completions", "/" + "a" * 4000,
)  # fmt: skip
_METHODS = ("GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD")


class Fuzzer:
    """Several senders, each with its own dice: the same seed sends the same requests, however they are answered.

    `statuses` counts what came back; 0 is a connection that was cut, or a request that httpx would not send. `broken`
    tells of the first requests that met an error of ours.
    """

    def __init__(self, http: httpx.AsyncClient, address: tuple[str, int], seed: int, *, at_once: int = 16) -> None:
        self._senders = [_Sender(http, address, random.Random(f"{seed} {i}"), self._report) for i in range(at_once)]
        self.statuses: Counter[int] = Counter()
        self.broken: list[str] = []

    async def send(self, count: int) -> None:
        """Send `count` requests in equal shares of the senders, rounded down, and wait for all replies."""
        await asyncio.gather(*(sender.send(count // len(self._senders)) for sender in self._senders))

    def _report(self, status: int, what: str) -> None:
        self.statuses[status] += 1
        if status >= 500 and status != 503 and len(self.broken) < 10:
            self.broken.append(f"{status}: {what[:400]}")


class _Sender:
    def __init__(
        self,
        http: httpx.AsyncClient,
        address: tuple[str, int],
        dice: random.Random,
        report: Callable[[int, str], None],
    ) -> None:
        self._http = http
        self._address = address
        self._random = dice
        self._report = report
        self._photo = plain_photo(32, 32)

    async def send(self, count: int) -> None:
        kinds: tuple[Callable[[], Any], ...] = (
            self._send_form, self._send_picture, self._send_multipart, self._send_json, self._send_chat,
            self._send_path, self._send_raw,
        )  # fmt: skip
        for _ in range(count):
            await self._random.choice(kinds)()

    async def _send_form(self) -> None:
        chosen = {self._pick(_FIELDS): self._pick(_VALUES) for _ in range(self._random.randint(1, 4))}
        await self._post(files={"image": self._photo}, data={"n_parallel": "1", **chosen})

    async def _send_picture(self) -> None:
        await self._post(files={"image": self._mutate(self._photo)}, data={"n_parallel": "1"})

    async def _send_multipart(self) -> None:
        request = httpx.Request("POST", "http://x", files={"image": self._photo}, data={"n_parallel": "1"})
        kind = request.headers["content-type"]
        if self._random.random() < 0.3:
            kind = (
                self._mutate(kind.encode()).decode("latin-1").replace("\n", " ").replace("\r", " ").replace("\0", " ")
            )
        await self._post(content=self._mutate(request.read()), headers={"Content-Type": kind})

    async def _send_json(self) -> None:
        body = orjson.dumps(
            {"image": {"base64": "/9j/4AAQ"}, self._pick(_FIELDS): self._pick(_VALUES), "n_parallel": 1}
        )
        mutated = self._mutate(body) if self._random.random() < 0.7 else body
        await self._post(content=mutated, headers={"Content-Type": "application/json"})

    async def _send_chat(self) -> None:
        part = {
            "type": "image_url",
            "image_url": {"url": self._pick(("data:,x", "data:image/jpeg;base64,/9j/", "x", ""))},
        }
        body = {"model": self._pick(("geotts", "gpt", "")), "messages": [{"role": "user", "content": [part]}]}
        content = self._mutate(orjson.dumps(body)) if self._random.random() < 0.5 else orjson.dumps(body)
        await self._post("/v1/chat/completions", content=content, headers={"Content-Type": "application/json"})

    async def _send_path(self) -> None:
        await self._send(self._pick(_METHODS), self._pick(_PATHS), headers=self._fuzzed_headers())

    async def _send_raw(self) -> None:
        """A body that comes slowly, is cut, or is not as long as it says."""
        length = self._random.choice((0, 10, 5000, 10**12))
        head = (
            "POST /locate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {length}\r\n\r\n"
        ).encode()
        written = [
            head if self._random.random() < 0.7 else self._mutate(head) for _ in range(self._random.randint(1, 3))
        ]
        waits = self._random.random() >= 0.5
        self._report(await _exchange(self._address, written, waits=waits), str(written))

    async def _post(self, path: str = "/locate", **body: Any) -> None:
        headers = {**self._fuzzed_headers(), **body.pop("headers", {})}
        await self._send("POST", path, headers=headers, **body)

    async def _send(self, method: str, path: str, **how: Any) -> None:
        try:
            status = (await self._http.request(method, path, **how)).status_code
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError):
            status = 0
        self._report(status, f"{method} {path} {how}")

    def _fuzzed_headers(self) -> dict[str, str]:
        if self._random.random() < 0.6:
            return {}
        return dict(self._random.choice(_HEADERS) for _ in range(self._random.randint(1, 3)))

    def _mutate(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self._random.randint(1, 8)):
            at = self._random.randrange(len(changed) + 1)
            match self._random.randrange(4):
                case 0:
                    del changed[at : at + self._random.randint(1, 40)]
                case 1:
                    changed[at:at] = self._random.randbytes(self._random.randint(1, 20))
                case 2:
                    changed[at : at + 1] = bytes([self._random.randrange(256)])
                case _:
                    changed[at:] = changed[at:] if self._random.random() < 0.7 else b""
        return bytes(changed)

    def _pick(self, choices: tuple[str, ...]) -> str:
        return self._random.choice(choices)


async def _exchange(address: tuple[str, int], written: list[bytes], *, waits: bool) -> int:
    """The status of the reply to these bytes; 0 for none, and for whoever leaves without waiting for it."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        async with asyncio.timeout(5):
            for piece in written:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.001)
            line = await reader.readline() if waits else b""
            return int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else 0
    except (TimeoutError, ConnectionError, ValueError):
        return 0
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
