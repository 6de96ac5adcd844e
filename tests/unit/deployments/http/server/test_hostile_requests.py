"""What nobody's client writes, byte by byte: each attempt has one declared end, and the service goes on.

The attempts are rows of the table in docs/threat-model.md.
"""

import asyncio
import contextlib
import json
import re

import pytest
from support.service import an_app, serving

HOST = b"host: localhost\r\n"
CLOSE = b"connection: close\r\n"
POST = b"POST /locate HTTP/1.1\r\n" + HOST + b"content-type: application/json\r\n"
GET = b"GET /healthz HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"transfer-encoding: chunked\r\n"


def post_request(*fields, body=b"{}"):
    return POST + b"".join(field + b"\r\n" for field in fields) + b"\r\n" + body


async def exchange(port, request):
    """All that comes until the server closes; it hangs when it never does."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    parts = []
    async with asyncio.timeout(60):
        with contextlib.suppress(ConnectionError):
            writer.write(request)
            await writer.drain()
        with contextlib.suppress(ConnectionError):
            while part := await reader.read(65536):
                parts.append(part)
    writer.close()
    return b"".join(parts)


def status(reply):
    return int(reply.split(b" ", 2)[1])


FRAMES = {
    "a length and chunks": (post_request(b"content-length: 2", b"transfer-encoding: chunked", body=b"0\r\n\r\n"), 400),
    "two lengths": (post_request(b"content-length: 2", b"content-length: 3"), 400),
    "a length below nothing": (post_request(b"content-length: -2"), 400),
    "a length of 23 digits": (post_request(b"content-length: " + b"9" * 23), 400),
    "an unknown transfer encoding": (post_request(b"transfer-encoding: xchunked"), 400),
    "chunked twice": (post_request(b"transfer-encoding: chunked, chunked", body=b"0\r\n\r\n"), 400),
    "a chunk size of 17 digits": (CHUNKED + b"\r\n" + b"f" * 17 + b"\r\n", 400),
    "a bare line feed": (b"GET /healthz HTTP/1.1\nhost: localhost\n\n", 400),
    "a folded header": (GET + b"x-a: b\r\n c\r\n" + CLOSE + b"\r\n", 400),
    "NUL in a value": (GET + b"x-a: b\x00c\r\n" + CLOSE + b"\r\n", 400),
    "a blank before the colon": (GET + b"x-a : b\r\n" + CLOSE + b"\r\n", 400),
    "CONNECT": (b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n", 400),
    "TRACE": (b"TRACE /healthz HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n", 405),
    "an HTTP/2 preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "a TLS hello": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(32) + b"\r\n\r\n", 400),
    "HTTP/9.9": (b"GET /healthz HTTP/9.9\r\n" + HOST + CLOSE + b"\r\n", 400),
    "an upgrade to h2c": (GET + b"upgrade: h2c\r\nhttp2-settings: AAMAAABk\r\nconnection: upgrade, close\r\n\r\n", 200),
    "the host of another site": (b"GET /v1/models HTTP/1.1\r\nhost: evil.example\r\n" + CLOSE + b"\r\n", 403),
    "an absolute address of another site": (
        b"GET http://evil.example/healthz HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n",
        200,
    ),
    "NUL in a path": (b"GET /locate/%00 HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n", 404),
    "a way up in a path": (
        b"GET /locate/..%2f..%2fetc%2fpasswd/files/" + b"a" * 64 + b" HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n",
        404,
    ),
    "5,000 ranges": (GET + b"range: bytes=" + b",".join(b"0-1" for _ in range(5000)) + b"\r\n" + CLOSE + b"\r\n", 200),
    "5,000 addresses": (
        GET + b"x-forwarded-for: " + b",".join(b"10.0.0.1" for _ in range(5000)) + b"\r\n" + CLOSE + b"\r\n",
        200,
    ),
    "a compressed body": (
        post_request(
            b"content-encoding: gzip", b"content-length: 20", b"connection: close", body=b"\x1f\x8b" + bytes(18)
        ),
        400,
    ),
    "two hosts": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"host: evil.example\r\n" + CLOSE + b"\r\n", 200),
    "an area of a million letters": (
        post_request(b"content-length: 1000014", b"connection: close", body=b'{"within": "' + b"a" * 1_000_000 + b'"}'),
        422,
    ),
    "lists a million deep": (
        post_request(b"content-length: 1000000", b"connection: close", body=b"[" * 1_000_000),
        400,
    ),
}


@pytest.mark.parametrize("name", FRAMES)
async def test_each_hostile_request_gets_one_reply_and_the_next_request_works(data_store, name):
    request, expected = FRAMES[name]
    async with serving(an_app(body_window_s=2.0)) as (url, gateway):
        port = int(url.rpartition(":")[2])
        reply = await exchange(port, request)
        assert status(reply) == expected
        assert len(re.findall(rb"HTTP/1\.1 \d{3} ", reply)) == 1
        if expected >= 400:
            assert json.loads(reply.partition(b"\r\n\r\n")[2])["detail"]
        assert status(await exchange(port, GET + CLOSE + b"\r\n")) == 200
        assert gateway.in_flight == 0


async def test_a_promised_body_that_never_comes_is_ended(data_store):
    async with serving(an_app(body_window_s=0.3)) as (url, _):
        request = POST + b"content-length: 5\r\nexpect: 100-continue\r\n\r\n"
        reply = await exchange(int(url.rpartition(":")[2]), request)
    assert reply.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 408 ")


async def test_a_reply_in_the_middle_of_a_body_is_read_before_the_connection_is_closed(data_store):
    """Also by a client that sends on, and that asked for the connection to be closed."""
    request = post_request(b"content-length: 999999999", b"connection: close", body=b" " * 100_000)
    async with serving(an_app()) as (url, _):
        reply = await exchange(int(url.rpartition(":")[2]), request)
    assert status(reply) == 413
    assert json.loads(reply.partition(b"\r\n\r\n")[2])["detail"]
