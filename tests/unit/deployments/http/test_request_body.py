"""What is thrown at `POST /locate` besides photos: bodies, fields and names nobody sends by accident."""

import asyncio
import base64
import io
import json
import re

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from support.basics import sign_bytes

from deployments.config import AppArgs, GatewayConfig
from deployments.gateway.gateway import Gateway
from deployments.http.app import create_app
from deployments.wiring.local import local_ports
from tts.config import RoutingConfig, ScriptedEngine

PHOTO = sign_bytes("Rue de Rivoli", size=(320, 240))
ARGS = AppArgs(
    engine=ScriptedEngine(turns=1, tokens_per_turn=2),
    routing=RoutingConfig(method="fixed"),
    gateway=GatewayConfig(body_window_s=60.0, body_timeout_s=60.0),
)


@pytest.fixture(scope="module")
def ports(data_store):
    return local_ports(ARGS)


@pytest.fixture
async def http(ports):
    transport = httpx.ASGITransport(create_app(Gateway(ARGS, ports), ARGS), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://geotts") as client:
        yield client


async def works(http) -> bool:
    return (await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})).status_code == 200


def part(name: bytes, value: bytes, extra: bytes = b"") -> bytes:
    return b'--B\r\nContent-Disposition: form-data; name="' + name + b'"' + extra + b"\r\n\r\n" + value + b"\r\n"


IMAGE = part(b"image", PHOTO, b'; filename="a.jpg"')
BODIES = {
    "no end": IMAGE,
    "no parts": b"--B--\r\n",
    "no name": b"--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n" + IMAGE + b"--B--\r\n",
    "no disposition": b"--B\r\nX: y\r\n\r\nx\r\n" + IMAGE + b"--B--\r\n",
    "a header without a colon": b"--B\r\nContent-Disposition\r\n\r\nx\r\n--B--\r\n",
    "a header of 100 kB": b"--B\r\nX: " + b"y" * 100_000 + b"\r\n\r\nx\r\n--B--\r\n",
    "a name that is no text": part(b"\xff\xfe", b"x") + IMAGE + b"--B--\r\n",
    "40 fields": b"".join(part(b"f%d" % i, b"x") for i in range(40)) + IMAGE + b"--B--\r\n",
    "a field of 100 kB": part(b"hint", b"x" * 100_000) + IMAGE + b"--B--\r\n",
    "a field that is a file": part(b"hint", b"x", b'; filename="h.txt"') + IMAGE + b"--B--\r\n",
    "the same field twice": part(b"depth", b"deep") * 2 + IMAGE + b"--B--\r\n",
    "only noise": bytes(range(256)) * 40,
}


ODD_BODIES = {
    "a value that is no text": part(b"hint", b"\xff\xfe\x00") + IMAGE + b"--B--\r\n",
    "another charset": part(b"hint", b"x", b'\r\nContent-Type: text/plain; charset="nope"') + IMAGE + b"--B--\r\n",
    "a boundary inside": IMAGE + b"--B" * 1000 + b"--B--\r\n",
}


@pytest.mark.parametrize("name", BODIES)
async def test_broken_multipart_is_refused_in_words(http, name):
    headers = {"Content-Type": "multipart/form-data; boundary=B"}
    reply = await http.post("/locate", content=BODIES[name], headers=headers)
    assert 400 <= reply.status_code < 500, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["detail"]
    assert await works(http)


JSON = {"Content-Type": "application/json"}
IMAGE_JSON = '{"image": {"base64": "' + base64.b64encode(PHOTO).decode() + '"}, '
DOCUMENTS = {
    "NaN": IMAGE_JSON + '"deadline_s": NaN}',
    "infinity": IMAGE_JSON + '"target_radius_km": 1e999}',
    "a million rollouts": IMAGE_JSON + '"n_parallel": 1000000}',
    "no rollouts": IMAGE_JSON + '"n_parallel": 0}',
    "a number of 5000 digits": IMAGE_JSON + '"seed": ' + "9" * 5000 + "}",
    "a list for a number": IMAGE_JSON + '"n_parallel": [1, 2]}',
    "an unknown field": IMAGE_JSON + '"N_PARALLEL": 1}',
    "a circle around nowhere": IMAGE_JSON
    + '"within": {"kind": "circle", "centre": {"lat": 95, "lon": 0}, "radius_km": 1}}',
    "a country that is none": IMAGE_JSON + '"within": {"kind": "countries", "codes": ["ITALY"]}}',
    "a country that is not there": IMAGE_JSON + '"within": {"kind": "countries", "codes": ["FR", "XX"]}}',
    "a depth of 5000 lists": "[" * 5000 + "]" * 5000,
    "half a character": '{"hint": "\\ud800"}',
    "a photo of null": '{"image": null}',
    "nine photos": '{"image": [' + ",".join(['{"base64": "AAAA"}'] * 9) + "]}",
    "a photo that is a path": '{"image": {"path": "/etc/passwd"}}',
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_strange_json_is_refused_in_words(http, name):
    reply = await http.post("/locate", content=DOCUMENTS[name], headers=JSON)
    assert 400 <= reply.status_code < 500, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    assert await works(http)


async def test_an_unknown_country_code_is_refused_by_its_name(http):
    reply = await http.post("/locate", content=DOCUMENTS["a country that is not there"], headers=JSON)
    assert reply.status_code == 422
    (error,) = reply.json()["errors"]
    assert error["field"] == "within"
    assert "XX" in error["problem"]
    assert "FR," not in error["problem"]


@pytest.mark.parametrize("tools", ["nonsense", "geocode,nonsense", '["nonsense"]'])
async def test_an_unknown_tool_is_refused_with_the_known_tools(http, tools):
    reply = await http.post("/locate", files={"image": PHOTO}, data={"tools": tools})
    assert reply.status_code == 422
    (error,) = reply.json()["errors"]
    assert error["field"] == "tools"
    assert error["problem"].startswith("there is no tool 'nonsense'; ")
    assert {"geocode", "image_zoom", "web_search"} <= set(re.findall(r"\w+", error["problem"]))


@pytest.mark.parametrize("tools", ["geocode", "image_zoom, read_text", "web_search", "[]", ""])
async def test_a_request_may_name_known_tools_that_are_not_configured(http, tools):
    reply = await http.post("/locate", files={"image": PHOTO}, data={"tools": tools, "n_parallel": "1"})
    assert reply.status_code == 200, reply.text


@pytest.mark.parametrize("photos", [9, 12])
async def test_more_photos_than_eight_are_refused_with_the_limit_however_they_come(http, photos):
    reply = await http.post("/locate", files=[("image", PHOTO)] * photos)
    assert reply.status_code == 422
    assert reply.json()["type"] == "urn:geotts:problem:invalid-request"
    assert "at most 8 of one place" in reply.json()["detail"]


@pytest.mark.parametrize("charset", ["charset=utf-16; boundary=B", 'boundary=B; Charset="utf-16"'])
async def test_a_form_is_read_as_utf_8_whatever_charset_it_claims(http, charset):
    body = part(b"n_parallel", b"1") + part(b"hint", "Zürich".encode()) + IMAGE + b"--B--\r\n"
    headers = {"Content-Type": f"multipart/form-data; {charset}"}
    reply = await http.post("/locate", content=body, headers=headers)
    assert reply.status_code == 200, reply.text


async def stuck_body():
    yield b"{"
    await asyncio.sleep(60)


@pytest.mark.parametrize("limit", ["body_timeout_s", "body_window_s"])
@pytest.mark.parametrize("path", ["/locate", "/v1/chat/completions"])
async def test_a_body_that_does_not_come_is_not_waited_for(ports, path, limit):
    args = ARGS.model_copy(update={"gateway": GatewayConfig(**{limit: 0.2})})
    transport = httpx.ASGITransport(create_app(Gateway(args, ports), args))
    async with asyncio.timeout(10), httpx.AsyncClient(transport=transport, base_url="http://geotts") as client:
        reply = await client.post(path, content=stuck_body(), headers=JSON)
    assert reply.status_code == 408
    assert reply.json()["type"] == "urn:geotts:problem:body-timeout"
    assert reply.headers["connection"] == "close"


@pytest.mark.parametrize("path", ["/locate", "/v1/chat/completions"])
async def test_a_photo_that_does_not_come_is_not_waited_for(ports, path):
    async def fetch(url, **_):
        await asyncio.sleep(60)

    args = ARGS.model_copy(update={"gateway": GatewayConfig(fetch_timeout_s=0.2)})
    url = {"url": "https://slow.example/a.jpg"}
    chat = {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": url}]}]}
    transport = httpx.ASGITransport(create_app(Gateway(args, ports), args, fetch=fetch))
    async with asyncio.timeout(10), httpx.AsyncClient(transport=transport, base_url="http://geotts") as client:
        reply = await client.post(path, json={"image": url} if path == "/locate" else chat)
    assert reply.status_code == 408


@pytest.mark.parametrize(
    "kind", ["", "image/jpeg", "application/x-www-form-urlencoded", "multipart/mixed; boundary=B", "ünknown"]
)
async def test_other_content_types_are_refused_with_the_accepted_ones(http, kind):
    reply = await http.post("/locate", content=PHOTO, headers={"Content-Type": kind.encode("latin-1")})
    assert reply.status_code == 415
    assert "multipart/form-data" in reply.json()["detail"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=300),
    st.sampled_from(["multipart/form-data; boundary=B", "application/json", "multipart/form-data"]),
)
async def test_a_random_body_is_refused_with_a_status_of_4xx(http, body, kind):
    reply = await http.post("/locate", content=body, headers={"Content-Type": kind})
    assert 400 <= reply.status_code < 500


@pytest.mark.parametrize(
    "hint", ["🗼🇯🇵 near the tower", "שלום \u202e\u2066", "\x00\x07", "a" * 2000, "';--", "{{7*7}}", "\u0301" * 500]
)
async def test_hints_in_any_script_are_fine(http, hint):
    reply = await http.post("/locate", files={"image": PHOTO}, data={"hint": hint, "n_parallel": "1"})
    assert reply.status_code == 200, reply.text


@pytest.mark.parametrize("name", ["SECRETNAME.jpg", "../../etc/SECRETNAME", "SECRETNAME\u202e.exe", "SECRETNAME" * 50])
async def test_file_names_are_never_passed_on(http, name):
    files = {"image": (name, PHOTO, "application/x-SECRETNAME")}
    for accept in ("application/json", "application/x-ndjson"):
        reply = await http.post("/locate", files=files, data={"include": "full"}, headers={"Accept": accept})
        assert reply.status_code == 200
        assert "SECRETNAME" not in reply.text


async def test_the_position_a_file_claims_stays_out_of_everything_unless_asked_for(http):
    exif = Image.Exif()
    exif[0x010F] = "SECRETCAMERA"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 24.0), 3: "E", 4: (2.0, 21.0, 3.6)})
    out = io.BytesIO()
    Image.open(io.BytesIO(PHOTO)).save(out, "JPEG", exif=exif)
    quiet = await http.post("/locate", files={"image": out.getvalue()}, data={"include": "full", "seed": "1"})
    with_report = await http.post("/locate", files={"image": out.getvalue()}, data={"exif": "report", "seed": "1"})
    assert "SECRETCAMERA" not in quiet.text
    assert quiet.json()["answer"]["file_claims"] == []
    (claim,) = with_report.json()["answer"]["file_claims"]
    assert (claim["camera"], claim["point"]) == ("SECRETCAMERA", {"lat": 48.8566667, "lon": 2.351})
    assert json.dumps(quiet.json()["answer"]["candidates"]) == json.dumps(with_report.json()["answer"]["candidates"])


async def test_an_unknown_field_is_reported_with_the_one_that_was_meant(http):
    reply = await http.post("/locate", files={"image": PHOTO}, data={"depht": "deep"})
    assert (reply.status_code, reply.json()["errors"]) == (
        422,
        [{"field": "depht", "problem": "no such field; did you mean depth?"}],
    )
    reply = await http.post("/locate", files={"image": PHOTO}, data={"zzzz": "1", "stop": "soon"})
    problems = {error["field"]: error["problem"] for error in reply.json()["errors"]}
    assert problems["zzzz"] == "no such field"
    assert problems["stop"].startswith("must be none, quorum[:k]")


@pytest.mark.parametrize("name", ["photo.jpg", "/home/me/photos of 2024/IMG_1.HEIC", "C:\\photos\\Café (1).png"])
async def test_the_name_of_a_file_in_place_of_the_file_is_reported(http, name):
    """As `curl -F image=photo.jpg` sends it."""
    reply = await http.post("/locate", files={"hint": (None, "x"), "image": (None, name)})
    assert reply.status_code == 422
    assert "write -F image=@photo.jpg" in reply.json()["detail"]


@pytest.mark.parametrize("path", ["", "/events", "/map", "/files/" + "0" * 64])
async def test_a_name_that_no_request_can_have_is_not_found(http, path):
    reply = await http.get("/locate/loc_nope" + path)
    assert (reply.status_code, reply.json()["type"]) == (404, "urn:geotts:problem:not-found")
    assert "no such request" in reply.json()["detail"]
    assert (await http.delete("/locate/loc_nope")).status_code == 404
