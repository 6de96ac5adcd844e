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

from deployments.bench.fanout import plain_photo

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
    """The same seed sends the same requests. `statuses` counts what came back; 0 is a cut connection."""

    def __init__(self, http: httpx.AsyncClient, address: tuple[str, int], seed: int) -> None:
        self._http, self._address = http, address
        self._random = random.Random(seed)
        self._photo = plain_photo(32, 32)
        self.statuses: Counter[int] = Counter()

    async def send(self, count: int, *, at_once: int = 16) -> None:
        kinds: tuple[Callable[[], Any], ...] = (
            self._form, self._picture, self._multipart, self._json, self._chat, self._path, self._raw,
        )  # fmt: skip

        async def some(n: int) -> None:
            for _ in range(n):
                self.statuses[await self._random.choice(kinds)()] += 1

        await asyncio.gather(*(some(count // at_once) for _ in range(at_once)))

    async def _form(self) -> int:
        chosen = {self._pick(_FIELDS): self._pick(_VALUES) for _ in range(self._random.randint(1, 4))}
        return await self._post(files={"image": self._photo}, data={"n_parallel": "1", **chosen})

    async def _picture(self) -> int:
        return await self._post(files={"image": self._mutated(self._photo)}, data={"n_parallel": "1"})

    async def _multipart(self) -> int:
        request = httpx.Request("POST", "http://x", files={"image": self._photo}, data={"n_parallel": "1"})
        kind = request.headers["content-type"]
        if self._random.random() < 0.3:
            kind = (
                self._mutated(kind.encode()).decode("latin-1").replace("\n", " ").replace("\r", " ").replace("\0", " ")
            )
        return await self._post(content=self._mutated(request.read()), headers={"Content-Type": kind})

    async def _json(self) -> int:
        body = orjson.dumps(
            {"image": {"base64": "/9j/4AAQ"}, self._pick(_FIELDS): self._pick(_VALUES), "n_parallel": 1}
        )
        mutated = self._mutated(body) if self._random.random() < 0.7 else body
        return await self._post(content=mutated, headers={"Content-Type": "application/json"})

    async def _chat(self) -> int:
        part = {
            "type": "image_url",
            "image_url": {"url": self._pick(("data:,x", "data:image/jpeg;base64,/9j/", "x", ""))},
        }
        body = {"model": self._pick(("geotts", "gpt", "")), "messages": [{"role": "user", "content": [part]}]}
        sent = self._mutated(orjson.dumps(body)) if self._random.random() < 0.5 else orjson.dumps(body)
        return await self._post("/v1/chat/completions", content=sent, headers={"Content-Type": "application/json"})

    async def _path(self) -> int:
        return await self._sent(self._pick(_METHODS), self._pick(_PATHS), headers=self._abuse())

    async def _raw(self) -> int:
        """A body that comes slowly, is cut, or is not as long as it says."""
        length = self._random.choice((0, 10, 5000, 10**12))
        head = (
            "POST /locate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {length}\r\n\r\n"
        )
        reader, writer = await asyncio.open_connection(*self._address)
        try:
            async with asyncio.timeout(5):
                for _ in range(self._random.randint(1, 3)):
                    writer.write(head.encode() if self._random.random() < 0.7 else self._mutated(head.encode()))
                    await writer.drain()
                    await asyncio.sleep(0.001)
                if self._random.random() < 0.5:
                    return 0
                line = await reader.readline()
                return int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else 0
        except (TimeoutError, ConnectionError, ValueError):
            return 0
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _post(self, path: str = "/locate", **body: Any) -> int:
        headers = {**self._abuse(), **body.pop("headers", {})}
        return await self._sent("POST", path, headers=headers, **body)

    async def _sent(self, method: str, path: str, **how: Any) -> int:
        try:
            return (await self._http.request(method, path, **how)).status_code
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError):
            return 0

    def _abuse(self) -> dict[str, str]:
        if self._random.random() < 0.6:
            return {}
        return dict(self._random.choice(_HEADERS) for _ in range(self._random.randint(1, 3)))

    def _mutated(self, data: bytes) -> bytes:
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
