"""The client of the service, over a transport that plays the server."""

import json

import httpx
import pytest
from support.sse_frames import HEARTBEAT, sse_frame

from geotts_client import SyncClient
from geotts_client.area import BBox, Circle, Countries
from geotts_client.client import Client
from geotts_client.errors import GeoTTSError, Overloaded, RequestError, ServerUnreachable
from geotts_client.events import Accepted, Done
from geotts_client.form_fields import form_fields
from geotts_client.latlon import LatLon
from geotts_client.options import LocateOptions

EVENTS = (
    Accepted(seq=1, request_id="loc_1", photos=(), n_parallel=2, depth="auto"),
    Done(seq=2, stop_reason="answered"),
)


def client(answer, **options):
    return Client("http://geotts/", transport=httpx.MockTransport(answer), **options)


def problem(status, detail, **headers):
    body = {"type": "urn:geotts:problem:x", "title": "X", "status": status, "detail": detail,
            "errors": [{"field": "n_parallel", "problem": "too large"}]}  # fmt: skip
    return httpx.Response(status, json=body, headers=headers)


async def test_events_are_yielded_as_they_come_without_heartbeats():
    seen = {}

    def answer(request):
        seen["request"] = request
        frames = [sse_frame(event.seq, event.type, event.json_bytes()) for event in EVENTS]
        return httpx.Response(200, content=HEARTBEAT + HEARTBEAT.join(frames))

    async with client(answer, api_key="k1") as geotts:
        events = [event async for event in geotts.stream(b"photo", LocateOptions(n_parallel=2))]
    assert tuple(events) == EVENTS
    request = seen["request"]
    assert request.url.path == "/locate"
    assert request.headers["authorization"] == "Bearer k1"
    assert request.headers["accept"] == "text/event-stream"
    body = request.content
    assert b"photo" in body
    assert b'name="n_parallel"' in body
    assert b'name="depth"' not in body


async def test_locate_returns_a_whole_run():
    def answer(request):
        return httpx.Response(200, content=b"".join(sse_frame(e.seq, e.type, e.json_bytes()) for e in EVENTS))

    async with client(answer) as geotts:
        run = await geotts.locate(b"photo")
    assert run.accepted.request_id == "loc_1"
    assert run.stop_reason == "answered"


async def _refusal(response):
    async with client(lambda request: response) as geotts:
        with pytest.raises(GeoTTSError) as refused:
            await geotts.locate(b"photo")
    return refused.value


async def test_refusals_keep_their_words_and_fields():
    error = await _refusal(problem(422, "n_parallel: too large"))
    assert isinstance(error, RequestError)
    assert (error.detail, error.status) == ("n_parallel: too large", 422)
    assert error.fields["errors"][0]["field"] == "n_parallel"


@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_service_says_when_to_come_back(status):
    error = await _refusal(problem(status, "busy", **{"Retry-After": "7"}))
    assert isinstance(error, Overloaded)
    assert error.retry_after_s == 7


async def test_a_reply_that_is_no_problem_document_is_still_an_error():
    error = await _refusal(httpx.Response(502, content=b"<html>bad gateway</html>"))
    assert "502" in error.detail


async def test_a_refused_connection_is_an_unreachable_server():
    def answer(request):
        raise httpx.ConnectError("refused")

    async with client(answer) as geotts:
        with pytest.raises(ServerUnreachable, match="http://geotts"):
            await geotts.locate(b"photo")


async def test_a_connection_that_took_too_long_is_tried_once_more_with_the_same_body():
    bodies = []

    async def answer(request):
        bodies.append(await request.aread())
        if len(bodies) == 1:
            raise httpx.ConnectTimeout("")
        return httpx.Response(202, json={"request_id": "loc_1", "location": "/locate/loc_1", "events": ""})

    async with client(answer) as geotts:
        assert await geotts.submit(b"photo", key="k") == "loc_1"
    assert bodies[0] == bodies[1]
    assert b"photo" in bodies[0]


@pytest.mark.parametrize(("failure", "attempts"), [(httpx.ConnectTimeout, 2), (httpx.ReadTimeout, 1)])
async def test_only_a_request_that_was_not_sent_is_retried_and_the_error_names_the_failure(failure, attempts):
    seen = []

    def answer(request):
        seen.append(request.method)
        raise failure("")

    async with client(answer) as geotts:
        with pytest.raises(ServerUnreachable, match=failure.__name__):
            await geotts.submit(b"photo", key="k")
    assert seen == ["POST"] * attempts


def test_options_become_form_fields():
    assert form_fields(LocateOptions()) == {}
    fields = form_fields(LocateOptions(n_parallel=8, depth="deep", within=Countries(codes=("IT",)), tools=("geocode",)))
    assert fields["n_parallel"] == "8"
    assert fields["depth"] == "deep"
    assert fields["tools"] == '["geocode"]'
    assert '"IT"' in fields["within"]
    assert LocateOptions(seed=3) == LocateOptions.model_validate(form_fields(LocateOptions(seed=3)))


@pytest.mark.parametrize(
    "area",
    [
        BBox(south=43, west=7, north=47, east=13),
        Circle(centre=LatLon(lat=48.85, lon=2.35), radius_km=30),
        Countries(codes=("IT", "CH")),
    ],
)
def test_an_area_survives_its_form_field(area):
    fields = form_fields(LocateOptions(within=area))
    assert LocateOptions.model_validate({**fields, "within": json.loads(fields["within"])}).within == area


@pytest.mark.parametrize("name", ["IT,FR", "it, fr"])
def test_an_area_in_words_is_taken_as_the_documentation_writes_it(name):
    assert LocateOptions(within=name).within == Countries(codes=("IT", "FR"))
    assert LocateOptions(within="41.9, 12.5, 200").within == Circle(centre=LatLon(lat=41.9, lon=12.5), radius_km=200)
    assert LocateOptions(within="bbox: 36, 6, 47, 19").within == BBox(south=36, west=6, north=47, east=19)


@pytest.mark.parametrize(
    ("words", "message"), [("Italy", r"Countries\(codes="), ("1,2", "write lat,lon,km"), ("bbox:1", "write bbox:south")]
)
def test_words_that_are_no_area_are_refused_with_how_to_write_one(words, message):
    with pytest.raises(ValueError, match=message):
        LocateOptions(within=words)


async def test_the_client_reads_photos_from_a_single_path_and_from_a_list(tmp_path):
    bodies = []

    def answer(request):
        bodies.append(request.content)
        return httpx.Response(200, content=b"".join(sse_frame(e.seq, e.type, e.json_bytes()) for e in EVENTS))

    path = tmp_path / "photo.jpg"
    path.write_bytes(b"first picture")
    async with client(answer) as geotts:
        await geotts.locate(path)
        await geotts.locate([path, b"second picture"])
        with pytest.raises(FileNotFoundError):
            await geotts.locate(tmp_path / "none.jpg")
    with SyncClient("http://geotts/", transport=httpx.MockTransport(answer)) as geotts:
        assert geotts.locate(path).stop_reason == "answered"
    assert [body.count(b"first picture") for body in bodies] == [1, 1, 1]
    assert [body.count(b"second picture") for body in bodies] == [0, 1, 0]
    assert all(b"photo.jpg" not in body for body in bodies), "names of files stay here"


@pytest.mark.parametrize("photos", ["photo.jpg", ["photo.jpg"], 7])
async def test_the_name_of_a_file_is_no_photo(photos):
    def answer(request):
        raise AssertionError("nothing may be sent")

    async with client(answer) as geotts:
        for call in (geotts.locate, geotts.submit):
            with pytest.raises(TypeError, match="pass bytes or a Path"):
                await call(photos)
    with (
        SyncClient("http://geotts/", transport=httpx.MockTransport(answer)) as geotts,
        pytest.raises(TypeError, match="pass bytes or a Path"),
    ):
        geotts.locate(photos)
