"""What a connection may do before it has sent a whole request, tried on a real server by hand-written bytes."""

import asyncio
import contextlib
import json

import pytest
from support.service import PHOTO, an_app, idle, serving

from deployments.config import ConnectionLimits
from deployments.http.server import head_limits as http_limits
from deployments.http.server.connections import Connections, State, network_of
from tts.config import ScriptedEngine

SLOW = ScriptedEngine(turns=40, tokens_per_turn=8, turn_s=0.25)


@contextlib.asynccontextmanager
async def service(engine=None, *, access=None, **limits):
    options = {"access": access} if access else {}
    async with serving(an_app(engine, connections=ConnectionLimits(**limits), **options)) as (url, gateway):
        yield int(url.rpartition(":")[2]), gateway


async def open_connection(port, data=b""):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    await writer.drain()
    return reader, writer


async def read_to_the_end(reader, seconds=10.0):
    """All that comes until the server closes; it hangs when it never does."""
    async with asyncio.timeout(seconds):
        parts = []
        with contextlib.suppress(ConnectionResetError):
            while part := await reader.read(65536):
                parts.append(part)
        return b"".join(parts)


async def exchange(port, data, seconds=10.0):
    reader, writer = await open_connection(port, data)
    try:
        return await read_to_the_end(reader, seconds)
    finally:
        writer.close()


def status(reply):
    return int(reply.split(b" ", 2)[1])


def locate(*fields, version=b"1.1", accept=b"application/json"):
    boundary = b"b0"
    body = b"".join(
        (
            b'--b0\r\ncontent-disposition: form-data; name="n_parallel"\r\n\r\n1\r\n',
            b'--b0\r\ncontent-disposition: form-data; name="image"; filename="a.jpg"\r\n\r\n'
            + PHOTO
            + b"\r\n--b0--\r\n",
        )
    )
    head = [
        b"POST /locate HTTP/" + version,
        b"host: localhost",
        b"accept: " + accept,
        b"content-type: multipart/form-data; boundary=" + boundary,
        b"content-length: %d" % len(body),
        *fields,
    ]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


async def test_an_endless_header_ends_with_431(data_store):
    async with service() as (port, _):
        reader, writer = await open_connection(port, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-long: ")
        with contextlib.suppress(ConnectionError):
            for _ in range(64):  # of 64 KiB, 4 MiB together
                writer.write(b"a" * 65536)
                await writer.drain()
                await asyncio.sleep(0)
        reply = await read_to_the_end(reader)
        writer.close()
        assert not reply or status(reply) == 431
        assert (
            status(await exchange(port, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
            == 200
        )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n" + b"x-a: b\r\n" * 200, 431),
        (b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-long: " + b"a" * 70_000, 431),
        (b"GET /healthz?" + b"a" * 70_000 + b" HTTP/1.1\r\nhost: localhost\r\n", 414),
        (b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n" + b"x-a: b\r\n" * 90, 200),
        (b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-long: " + b"a" * 60_000 + b"\r\n", 200),
        (b"NONSENSE\r\n", 400),
    ],
)
async def test_heads_are_bounded_in_bytes_and_fields(data_store, head, expected):
    async with service() as (port, _):
        reply = await exchange(port, head + b"connection: close\r\n\r\n")
        assert status(reply) == expected
        if expected != 200:
            assert b"application/problem+json" in reply
            assert json.loads(reply.partition(b"\r\n\r\n")[2])["status"] == expected


async def test_too_many_header_fields_are_refused_before_a_key_is_asked_for(data_store, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(f"a {'0' * 64}\n")
    async with service(access={"mode": "keys", "keys_file": str(keys)}) as (port, _):
        assert status(await exchange(port, b"GET /metrics HTTP/1.1\r\n" + b"x-a: b\r\n" * 200 + b"\r\n")) == 431
        assert status(await exchange(port, b"GET /metrics HTTP/1.1\r\nconnection: close\r\n\r\n")) == 401


async def test_endless_trailers_are_bounded_and_read_by_nobody(data_store):
    async with service() as (port, gateway):
        head = b"POST /locate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        chunked = head + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-long: "
        reader, writer = await open_connection(port, chunked)
        with contextlib.suppress(ConnectionError):
            for _ in range(64):
                writer.write(b"a" * 65536)
                await writer.drain()
                await asyncio.sleep(0)
        await read_to_the_end(reader)
        writer.close()
        await idle(gateway)


@pytest.mark.parametrize("data", [b"", b"GET /hea", b"GET /healthz HTTP/1.1\r\nx-a: ", b"\r\n\r\n"])
async def test_half_a_request_is_closed_in_time(data_store, data):
    async with service(head_timeout_s=0.3) as (port, _):
        reply = await exchange(port, data, seconds=3.0)
        if data.strip():
            assert status(reply) == 408
        else:
            assert reply == b""


async def test_a_slow_head_that_goes_on_is_closed_in_time_too(data_store):
    async with service(head_timeout_s=0.3) as (port, _):
        reader, writer = await open_connection(port, b"GET /healthz HTTP/1.1\r\n")

        async def trickle():
            with contextlib.suppress(ConnectionError):
                while not writer.is_closing():
                    writer.write(b"x-a: b\r\n")
                    await asyncio.sleep(0.05)

        async with asyncio.TaskGroup() as group:
            dripping = group.create_task(trickle())
            assert status(await read_to_the_end(reader, 3.0)) == 408
            dripping.cancel()
        writer.close()


async def test_empty_lines_between_requests_do_not_keep_a_connection(data_store):
    async with service(head_timeout_s=0.3) as (port, _):
        reader, writer = await open_connection(port, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        await reader.readuntil(b"}")
        writer.write(b"\r\n")
        assert await read_to_the_end(reader, 3.0) == b""
        writer.close()


async def test_many_requests_on_one_connection_and_pipelined_ones_are_served(data_store):
    one = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
    async with service(head_timeout_s=0.5) as (port, _):
        reader, writer = await open_connection(port, one * 5)
        for _ in range(5):
            assert b" 200 " in await reader.readuntil(b"}")
        for _ in range(5):
            await asyncio.sleep(0.15)  # longer together than a head may take
            writer.write(one)
            assert b" 200 " in await reader.readuntil(b"}")
        writer.close()


async def test_idle_connections_are_closed_to_make_room_for_others(data_store):
    async with service(max_connections=50) as (port, _):
        crowd = [await open_connection(port, b"GET /hea") for _ in range(120)]
        reply = await exchange(port, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        assert status(reply) == 200
        assert len(http_limits.LimitedHttp.gate) <= 50
        for _, writer in crowd:
            writer.close()


async def test_a_running_request_keeps_its_connection_while_idle_ones_are_closed(data_store):
    async with service(max_connections=20) as (port, gateway):
        reader, writer = await open_connection(port, locate(b"connection: close"))
        crowd = [await open_connection(port) for _ in range(60)]
        assert status(await read_to_the_end(reader)) == 200
        for one in (writer, *(other for _, other in crowd)):
            one.close()
        await idle(gateway)


async def test_callers_behind_a_proxy_are_counted_by_the_address_it_names(data_store):
    async with service(SLOW, max_per_address=2, trusted_proxies=("127.0.0.1",)) as (port, gateway):
        mine, other = b"x-forwarded-for: 1.2.3.4, 203.0.113.7", b"x-forwarded-for: 203.0.113.7, 203.0.113.8"
        at_work = [await open_connection(port, locate(mine, accept=b"text/event-stream")) for _ in range(2)]
        for reader, _ in at_work:
            await reader.readuntil(b"event:")
        assert status(await exchange(port, locate(mine, b"connection: close"))) == 429
        reader, writer = await open_connection(port, locate(other, accept=b"text/event-stream"))
        assert b" 200 " in await reader.readuntil(b"event:")
        for one in (writer, *(writer for _, writer in at_work)):
            one.close()
        await idle(gateway)


class Held:
    dropped = False

    def drop(self):
        self.dropped = True


def test_connections_are_limited_for_each_address_but_not_for_trusted_proxies():
    gate = Connections(ConnectionLimits(max_per_address=2, max_connections=100, trusted_proxies=("10.0.0.0/8",)))
    first, second, third = Held(), Held(), Held()
    assert gate.admit(first, "192.0.2.1")
    assert gate.admit(second, "192.0.2.1")
    gate.set_state(first, State.BUSY)
    assert gate.admit(third, "192.0.2.1")
    assert (first.dropped, second.dropped) == (False, True)
    gate.set_state(third, State.IDLE)
    assert not gate.admit(Held(), "192.0.2.1")
    assert gate.admit(Held(), "192.0.2.2")
    assert all(gate.admit(Held(), "10.1.2.3") for _ in range(50))
    for one in (first, third):
        gate.leave(one)
    assert gate.admit(Held(), "192.0.2.1")


def test_addresses_of_one_host_count_as_one():
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1") != network_of("2001:db8:0:1::1")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1")


@pytest.mark.parametrize("path", [b"/healthz", b"/"])
async def test_a_client_that_closed_its_sending_side_gets_its_reply(data_store, path):
    async with service() as (port, _):
        reader, writer = await open_connection(port, b"GET " + path + b" HTTP/1.0\r\nhost: localhost\r\n\r\n")
        writer.write_eof()
        assert status(await read_to_the_end(reader)) == 200
        writer.close()


@pytest.mark.parametrize("accept", [b"application/json", b"text/event-stream", b"application/x-ndjson"])
async def test_a_half_closed_client_gets_answers_and_streams(data_store, accept):
    async with service() as (port, gateway):
        reader, writer = await open_connection(port, locate(accept=accept))
        writer.write_eof()
        reply = await read_to_the_end(reader)
        writer.close()
        final = reply.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"")
        assert status(final) == 200
        assert b'"answer"' in final
        await idle(gateway)


async def test_a_client_that_is_gone_is_still_noticed(data_store):
    async with service(SLOW) as (port, gateway):
        for accept in (b"application/json", b"text/event-stream"):
            _, writer = await open_connection(port, locate(accept=accept))
            async with asyncio.timeout(5):
                while not gateway.in_flight:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            writer.close()
            async with asyncio.timeout(1.0):
                while gateway.in_flight:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)


@pytest.mark.parametrize("accept", [b"application/json", b"text/event-stream"])
async def test_http_1_0_gets_no_chunks(data_store, accept):
    async with service() as (port, gateway):
        reply = await exchange(port, locate(version=b"1.0", accept=accept))
        head, _, body = reply.partition(b"\r\n\r\n")
        assert status(reply) == 200
        assert b"transfer-encoding" not in head.lower()
        assert body.startswith(b"{" if accept.endswith(b"json") else (b"id:", b"event:", b":"))
        await idle(gateway)


async def test_an_upgrade_to_websocket_is_a_plain_request(data_store):
    async with service() as (port, _):
        upgrade = b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZQ==\r\n"
        reader, writer = await open_connection(
            port, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n" + upgrade + b"\r\n"
        )
        assert b" 200 " in await reader.readline()
        writer.close()


async def test_only_so_many_pipelined_requests_may_wait_on_one_connection(data_store):
    one = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
    async with service() as (port, _):
        reply = await exchange(port, one * 5000)
        assert reply.count(b" 200 ") <= 64
        reader, writer = await open_connection(port, one * 30)
        for _ in range(30):
            assert b" 200 " in await reader.readuntil(b"}")
        writer.close()


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({f"k{i}": 1 for i in range(100_000)}),
        json.dumps({"image": {"base64": "AA=="}, "within": "a " * 200_000}),
        json.dumps({"messages": [{} for _ in range(100_000)]}),
    ],
)
async def test_a_body_of_countless_values_is_refused_at_once(data_store, body):
    async with service() as (port, _):
        head = b"POST /locate HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n"
        started = asyncio.get_running_loop().time()
        reply = await exchange(port, head + b"content-length: %d\r\n\r\n" % len(body) + body.encode())
        assert status(reply) in (400, 422)
        assert asyncio.get_running_loop().time() - started < 1.0
