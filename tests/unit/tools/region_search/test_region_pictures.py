"""What leaves is a region encoded anew, with what a detector finds hidden; in a store it stays for one call only."""

import asyncio
import io
import logging
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import parse_qs, quote, urlsplit

import numpy as np
import pytest
from PIL import Image
from support.basics import a_context, sign_bytes
from support.made_detectors import detector, no_detector
from support.provider_server import KEYS, PUBLIC_URL
from support.rude_server import rude_server

from tools.region_search.blur import Blur
from tools.region_search.picture import RegionPicture, cut_region, encode_picture
from tools.region_search.picture_addresses import HeaderPlaces, S3Places
from tools.region_search.picture_store import StoredRegions
from tools.region_search.presigned_urls import S3Keys, presign_url
from tools.region_search.served_pictures import RegionShelf
from tts.config import BlurConfig, S3Upload, StoreUpload
from tts.domain.outgoing_request import Outgoing
from tts.domain.photo import Box
from tts.domain.photo_cleaning import load_photo
from tts.egress.records import EGRESS
from tts.errors import ConfigError, ToolError, ToolErrorKind
from tts.net.fetch_limits import FetchLimits
from tts.net.http_client import SafeHttpClient
from tts.net.secret import Scrubber, Secret

PICTURE = RegionPicture(b"\xff\xd8 a picture", 10, 10)
FACE = (8.0, 8.0, 24.0, 24.0)  # of a detector's 64 pixels: 16 to 48 of a picture of 128
PLACE = slice(16, 48)


def a_street(*, white=True):
    """Grey noise of 128 pixels with stripes where FACE is."""
    pixels = np.random.default_rng(1).integers(60, 90, (128, 128, 3), dtype=np.uint8)
    pixels[PLACE, PLACE] = np.where(np.arange(32)[:, None, None] % 8 < 4, 255 if white else 90, 0)
    return Image.fromarray(pixels)


@pytest.fixture
def blurring(tmp_path):
    def made(model, **settings):
        path = tmp_path / "detector.onnx"
        path.write_bytes(model)
        return Blur(BlurConfig(model=str(path), **{"min_score": 0.9, **settings}))

    return made


def test_blurring_hides_what_the_detector_finds_and_keeps_the_rest(blurring):
    street = a_street()
    before, after = np.asarray(street).astype(int), np.asarray(blurring(detector(FACE))(street)).astype(int)
    assert np.ptp(before[PLACE, PLACE]) == 255
    assert np.ptp(after[PLACE, PLACE]) < 80
    outside = np.ones((128, 128), dtype=bool)
    outside[10:54, 10:54] = False  # a margin of 15 % of its sides is hidden, too
    assert (before[outside] == after[outside]).all()
    assert (before[12:16, 12:52] != after[12:16, 12:52]).any()


def test_blurring_hides_the_right_place_in_a_wide_picture(blurring):
    wide = Image.new("RGB", (256, 128), (70, 70, 70))
    wide.paste(a_street(), (0, 0))
    after = np.asarray(blurring(detector((4.0, 4.0, 12.0, 12.0)), min_score=0.5)(wide))
    assert np.ptp(after[PLACE, PLACE]) < 80


@pytest.mark.parametrize(
    ("settings", "white"), [({"classes": (3,)}, True), ({"min_score": 0.9}, False)], ids=["class", "score"]
)
def test_other_classes_and_low_scores_stay(blurring, settings, white):
    street = a_street(white=white)
    after = blurring(detector(FACE, class_=1), **settings)(street)
    assert (np.asarray(after) == np.asarray(street)).all()


def test_a_picture_is_not_sent_if_the_detector_fails(blurring):
    failing = blurring(detector(FACE, nan_when_white=True))
    failing(a_street(white=False))
    with pytest.raises(ToolError, match="was not sent") as raised:
        failing(a_street())
    assert raised.value.kind is ToolErrorKind.UNAVAILABLE


@pytest.mark.parametrize("model", [b"", b"not a model", no_detector()])
def test_a_file_that_is_no_detector_is_refused_at_the_start(blurring, model):
    with pytest.raises(ConfigError, match="no detector"):
        blurring(model)


def test_a_missing_detector_is_refused_at_the_start(tmp_path):
    with pytest.raises(ConfigError, match="there is no file"):
        Blur(BlurConfig(model=str(tmp_path / "none.onnx")))


def test_a_region_is_cut_from_the_photo_and_scaled():
    photo = load_photo(sign_bytes("Calle Mayor", size=(800, 480)))
    box = Box(x0=0.0, y0=0.0, x1=1.0, y1=0.5)
    picture = encode_picture(cut_region(photo, box, max_side_px=400))
    seen = Image.open(io.BytesIO(picture.data))
    assert (seen.format, seen.size, (picture.width, picture.height)) == ("JPEG", (400, 120), (400, 120))
    with pytest.raises(ToolError, match="at least 16"):
        cut_region(photo, Box(x0=0, y0=0, x1=0.01, y1=1), max_side_px=400)


class Store:
    """A store over HTTP, with what is in it now; `refuses` names methods that fail, `holds` one that hangs."""

    def __init__(self, *, refuses=(), holds=""):
        self.kept = {}
        self.refuses = list(refuses)
        self.holds = holds
        self.arrived = asyncio.Event()

    def __call__(self, seen):
        if seen.headers.get("x-secret") != "Bearer upload-secret-1":
            return 403, {}, b""
        if seen.method == "PUT":
            self.kept[seen.path] = (seen.headers["content-type"], seen.body)
            self.arrived.set()
        if seen.method == self.holds:
            return "silence"
        if seen.method in self.refuses:
            self.refuses.remove(seen.method)
            return 500, {}, b""
        if seen.method == "DELETE":
            return (204, {}, b"") if self.kept.pop(seen.path, None) else (404, {}, b"")
        return 201, {}, b""


@asynccontextmanager
async def lend_picture(server, left=None, places=None):
    upload = StoreUpload(
        put_url=server.url + "/regions/{name}", get_url="https://cdn.example/{name}", secret_header="X-Secret"
    )
    record = EGRESS.record if left is None else left.append
    client = SafeHttpClient(FetchLimits(allow_hosts=frozenset({server.host})), scrubber=Scrubber(), record=record)
    try:
        async with StoredRegions(places or HeaderPlaces(upload, KEYS), client).lend(PICTURE, a_context()) as url:
            yield url
    finally:
        await client.aclose()


def test_urls_are_signed_as_the_example_of_the_documentation():
    """https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html, "An Example"."""
    keys = S3Keys("AKIAIOSFODNN7EXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))
    url = presign_url(
        "GET",
        "https://examplebucket.s3.amazonaws.com/test.txt",
        keys,
        region="us-east-1",
        expires_s=86400,
        at=datetime(2013, 5, 24, tzinfo=UTC),
    )
    assert parse_qs(urlsplit(url).query)["X-Amz-Signature"] == [
        "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    ]


@pytest.mark.parametrize("session", ["", "a-session/token=="])
async def test_a_bucket_gets_one_signed_upload_and_one_signed_deletion(session):
    environment = {"AWS_ACCESS_KEY_ID": "an-id", "AWS_SECRET_ACCESS_KEY": "a-secret-key", "AWS_SESSION_TOKEN": session}
    moment = datetime(2026, 11, 23, 12, tzinfo=UTC)
    keys = S3Keys("an-id", Secret("a-secret-key"), Secret(session) if session else None)
    kept: dict[str, bytes] = {}
    left: list[Outgoing] = []

    def bucket(seen):
        bare = f"{server.url}{seen.path}"
        if f"{server.url}{seen.target}" != presign_url(seen.method, bare, keys, region="auto", expires_s=30, at=moment):
            return 403, {}, b""
        if seen.method == "PUT":
            kept[seen.path] = seen.body
        return (200, {}, b"") if seen.method == "PUT" else (204 if kept.pop(seen.path, None) else 404, {}, b"")

    async with rude_server(bucket) as server:
        upload = S3Upload(bucket_url=server.url + "/a-bucket", region="auto", expires_s=30)
        places = S3Places(upload, environment, lambda: moment)
        async with lend_picture(server, left, places) as url:
            (path,) = kept
            assert path.startswith("/a-bucket/regions/")
            assert url == presign_url("GET", server.url + path, keys, region="auto", expires_s=30, at=moment)
        assert kept == {}
    assert [sent.method for sent in left] == ["PUT", "DELETE"]
    secrets = ("a-secret-key", path.rpartition("/")[2], *(quote(session, safe=""), session) * bool(session))
    assert not any(secret in repr(left) for secret in secrets)


def test_the_error_for_a_missing_secret_names_its_variable():
    with pytest.raises(ConfigError, match="GEOTTS_UPLOAD_SECRET"):
        HeaderPlaces(StoreUpload(put_url="https://store.example/{name}"), {})
    with pytest.raises(ConfigError, match="AWS_SECRET_ACCESS_KEY"):
        S3Places(S3Upload(bucket_url="https://b.s3.amazonaws.com"), {"AWS_ACCESS_KEY_ID": "an-id"})


async def test_a_picture_is_in_the_store_during_the_call_only():
    store = Store()
    left: list[Outgoing] = []
    async with rude_server(store) as server:
        async with lend_picture(server, left) as url:
            (path,) = store.kept
            assert store.kept[path] == ("image/jpeg", PICTURE.data)
            assert url == f"https://cdn.example/{path.rpartition('/')[2]}"
            assert len(path) > 43
        assert store.kept == {}
    assert [(sent.method, sent.bytes_sent, sent.request_id) for sent in left] == [
        ("PUT", len(PICTURE.data), a_context().id),
        ("DELETE", 0, a_context().id),
    ]
    assert not any(secret in repr(left) for secret in ("upload-secret", path.rpartition("/")[2]))


async def test_a_stored_picture_is_deleted_when_the_call_fails():
    store = Store()
    async with rude_server(store) as server:
        with pytest.raises(ToolError, match="the service failed"):
            async with lend_picture(server):
                assert store.kept
                raise ToolError("the service failed", kind=ToolErrorKind.UNAVAILABLE)
        assert store.kept == {}


async def test_a_stored_picture_is_deleted_when_the_upload_seems_to_fail():
    store = Store(refuses=["PUT"])  # it arrives, and the store answers 500
    async with rude_server(store) as server:
        with pytest.raises(ToolError, match="could not be uploaded") as raised:
            async with lend_picture(server):
                pytest.fail("there is no picture to search for")
        assert raised.value.kind is ToolErrorKind.UNAVAILABLE
        assert store.kept == {}


@pytest.mark.parametrize("during", ["PUT", "call"])
async def test_a_stored_picture_is_deleted_before_a_cancellation_is_passed_on(during):
    store = Store(holds=during)
    async with rude_server(store) as server:

        async def search():
            async with lend_picture(server):
                await asyncio.sleep(60)

        searching = asyncio.ensure_future(search())
        await store.arrived.wait()
        await asyncio.sleep(0.05)
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
        assert store.kept == {}


async def test_a_deletion_is_tried_again_and_its_failure_is_logged(caplog):
    once, never = Store(refuses=["DELETE"]), Store(refuses=["DELETE"] * 2)
    for store in (once, never):
        async with rude_server(store) as server, lend_picture(server):
            pass
    assert once.kept == {}
    assert len(never.kept) == 1
    (name,) = (path.rpartition("/")[2] for path in never.kept)
    assert [record.levelno for record in caplog.records if name in record.getMessage()] == [logging.ERROR]


async def test_a_picture_lent_by_the_gateway_expires():
    now = [0.0]
    shelf = RegionShelf(PUBLIC_URL + "/", expires_s=30.0, max_fetches=3, scrubber=Scrubber(), now=lambda: now[0])
    async with shelf.lend(PICTURE, a_context()) as url:
        assert url.startswith(f"{PUBLIC_URL}/regions/")
        name = url.rpartition("/")[2]
        assert shelf.take(name, "somebody") == PICTURE.data
        assert shelf.take("A" * 43 + ".jpg", "somebody") is None
        now[0] = 30.0
        assert shelf.take(name, "somebody") is None
    assert len(shelf) == 0
