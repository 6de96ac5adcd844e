"""What one caller may take of the way in: slow bodies and silent names are its own trouble."""

import asyncio
import contextlib
import io
import json
import socket
import threading
import time

import httpx
import pytest
from click.testing import CliRunner
from PIL import Image
from support.service import PHOTO, an_app, idle, serving

from deployments.cli.keys import command
from deployments.config import AccessConfig, GatewayConfig
from deployments.gateway.auth import Keyring, fingerprint
from tts.errors import FetchError
from tts.net.host_resolution import NameLookups
from tts.net.http_client import SafeHttpClient


def keys(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return AccessConfig(mode="keys", keys_file=str(path))


def bearer_header(key):
    return {"Authorization": f"Bearer {key}"}


async def slow_body(url, key):
    """Half a request whose body does not come: its connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    writer.write(
        f"POST /locate HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n"
        "content-type: application/json\r\ncontent-length: 1000\r\n\r\n{".encode()
    )
    return reader, writer


@pytest.mark.parametrize("limits", [" - 2", ""])
async def test_slow_bodies_of_one_key_leave_room_for_others(data_store, tmp_path, limits):
    access = keys(tmp_path / "keys", f"slow {fingerprint('gt_slow')}{limits}", f"other {fingerprint('gt_other')}")
    async with serving(an_app(access=access, max_in_flight=16)) as (url, gateway), httpx.AsyncClient() as http:
        crowd = [await slow_body(url, "gt_slow") for _ in range(64)]
        refused = [(await reader.readline()).split()[1] for reader, _ in crowd[16:]]
        assert set(refused) == {b"429"}
        assert gateway.in_flight == (2 if limits else 8)
        form = {"files": {"image": PHOTO}, "data": {"n_parallel": "1"}}
        assert (await http.post(f"{url}/locate", **form, headers=bearer_header("gt_other"))).status_code == 200
        for _, writer in crowd:
            writer.close()
        await idle(gateway)


async def status_of(reader):
    return int((await reader.readline()).split()[1])


async def read_until_closed(reader):
    """All that comes until the server closes; it hangs when it never does."""
    parts = []
    async with asyncio.timeout(20):
        with contextlib.suppress(ConnectionResetError):
            while part := await reader.read(65536):
                parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("first", [b"", b"x" * 400])
async def test_a_body_slower_than_the_minimum_pace_ends_with_408_before_body_timeout(data_store, first):
    """Also one that began well: what has come once is no right to a place for ever."""
    limits = {"body_timeout_s": 3600.0, "body_window_s": 0.4, "min_body_bytes_per_s": 500.0}
    async with serving(an_app(**limits)) as (url, gateway):
        reader, writer = await slow_body(url, "none")
        writer.write(first)
        drips = asyncio.create_task(drip(writer, b" ", every_s=0.05))
        assert await status_of(reader) == 408
        await read_until_closed(reader)
        await idle(gateway)
        drips.cancel()
        writer.close()


async def drip(writer, piece, every_s):
    with contextlib.suppress(ConnectionError):
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(every_s)


async def test_the_client_of_a_slow_body_reads_why_before_its_connection_is_closed(data_store):
    async with serving(an_app(body_window_s=0.3)) as (url, _):
        reader, writer = await slow_body(url, "none")
        drips = asyncio.create_task(drip(writer, b" ", every_s=0.05))
        reply = await read_until_closed(reader)
        drips.cancel()
        writer.close()
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in head
    assert json.loads(body)["detail"].endswith("bytes arrived in 0.3 s; at least 308 must arrive")


async def test_a_slow_upload_that_keeps_the_minimum_pace_is_answered(data_store):
    """It takes many windows, keeps the pace in each, and is answered: a photo of 300 KB at 200 kB/s."""
    noise = io.BytesIO()
    Image.effect_noise((640, 480), 90).save(noise, "PNG")
    form = httpx.Request("POST", "http://x", files={"image": noise.getvalue()}, data={"n_parallel": "1"})
    whole = form.read()
    assert len(whole) > 200_000

    async def slowly():
        for start in range(0, len(whole), 10_000):
            await asyncio.sleep(0.05)
            yield whole[start : start + 10_000]

    limits = {"body_window_s": 0.4, "min_body_bytes_per_s": 50_000.0}
    async with serving(an_app(**limits)) as (url, gateway), httpx.AsyncClient() as http:
        headers = {"Content-Type": form.headers["Content-Type"]}
        reply = await http.post(f"{url}/locate", content=slowly(), headers=headers)
        await idle(gateway)
    assert reply.status_code == 200, reply.text


def test_the_default_limits_end_a_stalled_body_within_15_s_and_allow_ten_megabytes():
    limits = GatewayConfig()
    assert limits.body_window_s + 1.0 <= 15.0
    assert limits.min_body_bytes_per_s * 10 < 50_000
    assert limits.body_timeout_s >= 10e6 / 50e3


def large_photo():
    """One that is decoded in a thread."""
    out = io.BytesIO()
    Image.linear_gradient("L").resize((800, 800)).convert("RGB").save(out, "PNG")
    return out.getvalue()


@pytest.mark.slow
async def test_photos_do_not_wait_for_dns_lookups_of_others_that_never_answer(data_store, monkeypatch):
    known, answered = socket.getaddrinfo, threading.Event()

    def silent(host, *args, **kwargs):
        if "silent" in str(host):
            answered.wait(60)
            raise socket.gaierror("no answer")
        return known(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    async with serving(an_app(max_fetches=30)) as (url, gateway), httpx.AsyncClient(timeout=30) as http:

        async def by_url(i):
            return await http.post(f"{url}/locate", json={"image": {"url": f"http://silent{i}.example/a.jpg"}})

        waiting = [asyncio.create_task(by_url(i)) for i in range(30)]
        await asyncio.sleep(0.3)
        reply = await http.post(f"{url}/locate", files={"image": large_photo()}, data={"n_parallel": "1"})
        assert reply.status_code == 200
        assert not any(task.done() for task in waiting)
        answered.set()
        assert {reply.status_code for reply in await asyncio.gather(*waiting)} == {422}
        await idle(gateway)


async def test_photos_of_one_key_are_fetched_at_most_max_fetches_at_once(data_store, tmp_path):
    at_once = most = 0

    async def fetch(url, *, request_id):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.05)
        at_once -= 1
        return PHOTO

    args = an_app(max_fetches=3)
    async with serving(args, fetch=fetch) as (url, gateway), httpx.AsyncClient(timeout=30) as http:
        body = {"image": {"url": "http://photos.example/a.jpg"}, "n_parallel": 1}
        replies = await asyncio.gather(*(http.post(f"{url}/locate", json=body) for _ in range(10)))
        assert {reply.status_code for reply in replies} == {200}
        assert most == 3
        assert gateway.admission._fetch_limiters == {}
        await idle(gateway)


async def test_lookups_of_names_are_bounded(monkeypatch):
    def slow(*args, **kwargs):
        time.sleep(0.3)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    names = NameLookups(threads=2, most_waiting=2)
    asking = [asyncio.create_task(names.addresses(f"h{i}", 80)) for i in range(4)]
    await asyncio.sleep(0.05)
    with pytest.raises(FetchError, match="too many host names"):
        await names.addresses("h5", 80)
    for task in asking[:3]:
        task.cancel()
    assert await asking[3] == []
    await asyncio.sleep(0.35)
    assert await names.addresses("h6", 80) == []


async def test_a_refusal_does_not_reveal_whether_an_internal_name_exists():
    async def inside(host, port):
        return ["10.0.0.7"]

    async def nowhere(host, port):
        raise socket.gaierror("none")

    details = set()
    for resolve in (inside, nowhere):
        client = SafeHttpClient(resolve=resolve)
        with pytest.raises(FetchError) as refused:
            await client.fetch("http://intranet.example/")
        details.add(refused.value.detail)
        await client.aclose()
    assert len(details) == 1


def test_a_key_may_have_a_number_at_once_and_no_rate(tmp_path):
    made = CliRunner().invoke(command, ["new", "archive", "--concurrent", "2"])
    assert made.exit_code == 0, made.output
    path = tmp_path / "keys"
    path.write_text(made.stdout.splitlines()[-1] + "\n")
    ring = Keyring(GatewayConfig(access=AccessConfig(mode="keys", keys_file=str(path), requests_per_minute=30)))
    (caller,) = ring._keys.values()
    assert (caller.name, caller.max_concurrent, caller.requests_per_minute) == ("archive", 2, 30)
