"""The safe client against a server that misbehaves."""

import asyncio
import datetime
import logging
import pickle
import ssl
import time

import pytest
from support.basics import leftover_tasks
from support.rude_server import as_json, rude_server

from tts.egress.records import EGRESS
from tts.errors import FetchError, FetchErrorKind
from tts.net.fetch_limits import FetchLimits
from tts.net.http_client import SafeHttpClient, retry_after_s
from tts.net.inflate import Inflater
from tts.net.secret import Credential, Scrubber, Secret

KEY = Secret("k3y/with+odd=chars&more")


@pytest.fixture
async def server():
    async with rude_server() as running:
        yield running


@pytest.fixture
async def client(server):
    policy = FetchLimits(allow_hosts=frozenset({server.host}), max_bytes=2**20)
    client = SafeHttpClient(policy, scrubber=Scrubber([KEY]))
    yield client
    await client.aclose()


async def test_a_reply_arrives_whole(server, client):
    reply = await client.fetch(f"{server.url}/ok", params={"q": "Ōsaka 駅"})
    assert (reply.status, reply.content, reply.content_type) == (200, b"fine", "text/plain")
    assert server.seen[0].query == {"q": "Ōsaka 駅"}
    assert server.seen[0].headers["host"] == server.host


@pytest.mark.parametrize(
    ("path", "kind"),
    {
        "status/500": FetchErrorKind.STATUS,
        "status/404": FetchErrorKind.STATUS,
        "garbage": FetchErrorKind.BROKEN,
        "half": FetchErrorKind.BROKEN,
        "cut": FetchErrorKind.BROKEN,
        "reset": FetchErrorKind.BROKEN,
        "silence": FetchErrorKind.TIMEOUT,
        "drip": FetchErrorKind.TIMEOUT,
        "huge": FetchErrorKind.TOO_LARGE,
        "bomb": FetchErrorKind.TOO_LARGE,
        "bad-gzip": FetchErrorKind.BAD_CONTENT,
        "short-gzip": FetchErrorKind.BROKEN,
        "loop": FetchErrorKind.REDIRECTS,
        "redirect?to=http://127.0.0.1:1/": FetchErrorKind.REFUSED,
        "redirect?to=http://169.254.169.254/latest/meta-data/": FetchErrorKind.REFUSED,
        "redirect?to=http://localhost/": FetchErrorKind.REFUSED,
        "redirect?to=file:///etc/passwd": FetchErrorKind.REFUSED,
        "redirect?to=http://[::1]/": FetchErrorKind.REFUSED,
        "redirect?to=http://a:b@example.com/": FetchErrorKind.BAD_URL,
    }.items(),
)
async def test_every_fault_is_a_typed_error_in_time_and_the_next_fetch_works(server, client, path, kind):
    started = time.perf_counter()
    with pytest.raises(FetchError) as caught:
        await client.fetch(f"{server.url}/{path}", timeout_s=0.5 if kind is FetchErrorKind.TIMEOUT else 10)
    assert caught.value.kind is kind
    assert time.perf_counter() - started < 10
    assert (await client.fetch(f"{server.url}/ok")).content == b"fine"
    assert pickle.loads(pickle.dumps(caught.value)).kind is kind


async def test_retry_after_travels_with_the_error(server, client):
    with pytest.raises(FetchError) as caught:
        await client.fetch(f"{server.url}/retry/429/7")
    assert (caught.value.http_status, caught.value.retry_after_s) == (429, 7.0)
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=30)
    seconds = retry_after_s(soon.strftime("%a, %d %b %Y %H:%M:%S GMT"))
    assert seconds is not None
    assert 25 < seconds <= 30
    assert retry_after_s("soon") is None
    assert retry_after_s("999999999") == 3600.0


async def test_any_status_may_be_asked_for(server, client):
    assert (await client.fetch(f"{server.url}/status/418", any_status=True)).status == 418


async def test_a_redirect_within_the_allowed_hosts_is_followed(server, client):
    reply = await client.fetch(f"{server.url}/redirect?to=/ok")
    assert (reply.content, reply.url) == (b"fine", f"{server.url}/ok")


async def test_the_client_neither_keeps_nor_passes_on_cookies(server, client):
    reply = await client.fetch(f"{server.url}/cookie")
    assert "set-cookie" not in reply.headers
    await client.fetch(f"{server.url}/ok")
    assert "cookie" not in server.seen[-1].headers


async def test_a_reply_of_another_content_type_is_refused(server, client):
    assert (await client.fetch(f"{server.url}/type/image/png", content_types=("image/",))).content == b"typed"
    with pytest.raises(FetchError, match="not image/") as caught:
        await client.fetch(f"{server.url}/type/text/html", content_types=("image/",))
    assert caught.value.kind is FetchErrorKind.BAD_CONTENT


async def test_a_private_address_behind_a_public_name_is_refused(server):
    async def rebinding(host, port):
        return ["93.184.216.34", "127.0.0.1"]

    with pytest.raises(FetchError, match="public internet"):
        await SafeHttpClient(FetchLimits(), resolve=rebinding).fetch("http://photos.example.com/a.jpg")


async def test_a_name_is_resolved_once_and_the_connection_goes_to_the_checked_address(server):
    asked = []

    async def resolve(host, port):
        asked.append(host)
        return ["127.0.0.1"]

    policy = FetchLimits(allow_hosts=frozenset({f"tiles.example.com:{server.port}"}))
    client = SafeHttpClient(policy, resolve=resolve)
    await client.fetch(f"http://tiles.example.com:{server.port}/ok")
    await client.aclose()
    assert asked == ["tiles.example.com"]
    assert server.seen[0].headers["host"] == f"tiles.example.com:{server.port}"


async def test_tls_is_checked_against_the_name_not_the_address(tmp_path):
    certificate = certificate_for("maps.example.com", tmp_path)
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(certificate)
    names: list[str | None] = []
    serving.sni_callback = lambda _socket, name, _context: names.append(name)

    async def resolve(host, port):
        return ["127.0.0.1"]

    async with rude_server(tls=serving) as server:
        hosts = frozenset({f"maps.example.com:{server.port}", f"other.example.com:{server.port}"})
        trusting = ssl.create_default_context(cafile=str(certificate))
        client = SafeHttpClient(FetchLimits(allow_hosts=hosts), resolve=resolve, verify=trusting)
        assert (await client.fetch(f"https://maps.example.com:{server.port}/ok")).content == b"fine"
        with pytest.raises(FetchError) as caught:
            await client.fetch(f"https://other.example.com:{server.port}/ok")
        with pytest.raises(FetchError, match="https to http"):
            await client.fetch(
                f"https://maps.example.com:{server.port}/redirect?to=http://maps.example.com:{server.port}/"
            )
        await client.aclose()
    assert caught.value.kind is FetchErrorKind.TLS
    assert names[0] == "maps.example.com"


@pytest.mark.parametrize("credential", [Credential("query", "key", KEY), Credential("header", "X-Key", KEY, "Bearer ")])
async def test_a_key_reaches_the_server_and_no_reply_error_or_log(server, client, credential, caplog):
    caplog.set_level(logging.DEBUG)
    reply = await client.fetch(f"{server.url}/echo", params={"q": "x"}, credential=credential)
    request = server.seen[0]
    assert KEY.reveal() in (request.query.get("key", ""), request.headers.get("x-key", "").removeprefix("Bearer "))
    assert KEY.reveal() not in reply.content.decode()
    assert KEY.reveal() not in repr(reply)
    with pytest.raises(FetchError) as caught:
        await client.fetch(f"{server.url}/status/403", credential=credential)
    for text in (str(caught.value), repr(caught.value.fields), repr(credential), caplog.text):
        for needle in (KEY.reveal(), "k3y%2Fwith"):
            assert needle not in text


async def test_a_key_does_not_follow_to_another_host(client, server):
    async with rude_server() as other:
        both = SafeHttpClient(FetchLimits(allow_hosts=frozenset({server.host, other.host})))
        credential = Credential("header", "Authorization", KEY, "Bearer ")
        await both.fetch(f"{server.url}/redirect?to={other.url}/ok", credential=credential)
        await both.fetch(f"{server.url}/redirect?to=/ok", credential=credential)
        with pytest.raises(FetchError, match="sends data"):
            await both.fetch(f"{server.url}/redirect?status=307&to={other.url}/", method="POST", json={"q": "x"})
        await both.aclose()
    assert "authorization" not in other.seen[0].headers
    assert KEY.reveal() in server.seen[-2].headers["authorization"]


async def test_each_request_that_is_sent_is_recorded(server):
    """In the log of its request, where the client is told nothing else."""
    client = SafeHttpClient(FetchLimits(allow_hosts=frozenset({server.host})))
    await client.fetch(f"{server.url}/echo", method="POST", json={"q": "x"}, request_id="loc_recorded")
    await client.fetch(f"{server.url}/ok")
    await client.aclose()
    (egress_record,) = EGRESS.take("loc_recorded")
    record = egress_record.outgoing
    assert (record.method, record.host, record.bytes_sent) == ("POST", "127.0.0.1", 9)
    assert record.request_id == "loc_recorded"


async def test_the_query_of_a_signed_url_is_not_recorded(server):
    hosts = FetchLimits(allow_hosts=frozenset({server.host}))
    client = SafeHttpClient(hosts, record_query=False)
    await client.fetch(f"{server.url}/redirect?to=/ok%3Fsignature%3Ds3cret", request_id="loc_signed")
    await client.aclose()
    urls = [egress_record.outgoing.url for egress_record in EGRESS.take("loc_signed")]
    assert urls == [f"{server.url}/redirect", f"{server.url}/ok"]


async def test_a_cancelled_fetch_leaves_nothing_behind(server, client):
    task = asyncio.ensure_future(client.fetch(f"{server.url}/silence", timeout_s=30))
    async with asyncio.timeout(5):
        await server.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not [name for name in leftover_tasks() if "fetch" in name]
    assert (await client.fetch(f"{server.url}/ok")).content == b"fine"


async def test_a_reply_that_is_not_json_is_refused_as_such(server, client):
    server.answer = lambda seen: as_json({"a": 1}) if seen.path == "/good" else "ok"
    assert (await client.fetch(f"{server.url}/good")).json() == {"a": 1}
    with pytest.raises(FetchError, match="not JSON"):
        (await client.fetch(f"{server.url}/bad")).json()


def test_secrets_print_as_stars_and_cannot_be_pickled():
    assert KEY.reveal() not in f"{KEY} {KEY!r} {Credential('header', 'x', KEY)}"
    with pytest.raises(TypeError):
        pickle.dumps(KEY)


def test_a_raw_deflate_body_is_decompressed_too():
    import zlib

    squeezed = zlib.compressobj(wbits=-15)
    body = squeezed.compress(b"hello " * 100) + squeezed.flush()
    inflater = Inflater("deflate", 10_000)
    assert inflater.feed(body) == b"hello " * 100
    inflater.finish()
    with pytest.raises(FetchError):
        Inflater("br", 10)


def certificate_for(name, folder):
    """A self-signed certificate and its key in one file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path
