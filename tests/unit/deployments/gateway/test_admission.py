"""Photos that come at once are let in one after the other: each has asked its engine before the next is looked at."""

import asyncio
import io
from itertools import pairwise

import pytest
from PIL import Image
from support.basics import sign_bytes
from support.service import a_gateway, an_app

from deployments.config import GatewayConfig
from deployments.gateway import admission
from deployments.gateway.admission import Admission
from deployments.gateway.auth import Caller
from tts.domain.photo_cleaning import OpenedPhoto, load_photo
from tts.domain.request import LocateOptions
from tts.errors import PhotoError, RequestError
from tts.inference.scripted.engine import ScriptedModel

PHOTOS = [sign_bytes(word, size=(320, 240)) for word in ("Quai", "Rue", "Place", "Cours")]
NAMES = [load_photo(photo).sha256 for photo in PHOTOS]


@pytest.fixture
def events(monkeypatch):
    """(what, whose) in its order: a photo was looked at, an engine was asked."""
    seen = []
    clean, generate = OpenedPhoto.clean, ScriptedModel.generate

    def noted_clean(opened):
        photo = clean(opened)
        seen.append(("photo", photo.sha256))
        return photo

    def noted_generate(self, request):
        seen.append(("asked", request.photos[0].sha256))
        return generate(self, request)

    monkeypatch.setattr(OpenedPhoto, "clean", noted_clean)
    monkeypatch.setattr(ScriptedModel, "generate", noted_generate)
    return seen


async def test_requests_that_arrive_at_once_reach_their_engines_one_after_the_other(events, data_store, monkeypatch):
    monkeypatch.setattr(admission, "_HEAD_START_S", 10.0)  # on a busy machine, too, each waits for the one before
    gateway, _ = a_gateway(an_app())
    options = LocateOptions(n_parallel=2, seed=1, depth="standard")
    try:
        started = await asyncio.gather(*(gateway.start([photo], options, followed=False) for photo in PHOTOS))
        for one in started:
            await gateway.result(one.request_id)
    finally:
        await gateway.aclose()
    assert [whose for what, whose in events if what == "photo"] == NAMES
    for before, after in pairwise(NAMES):
        seen = events[: events.index(("photo", after))]
        assert seen.count(("asked", before)) >= 2  # both of its rollouts; on a slow machine a second turn, too


async def test_a_refused_request_does_not_delay_the_next_one(data_store, monkeypatch):
    monkeypatch.setattr(admission, "_HEAD_START_S", 60.0)
    gateway, _ = a_gateway(an_app())
    options = LocateOptions(n_parallel=1, seed=1, depth="standard", within_km=5.0)
    try:
        async with asyncio.timeout(30):
            for _ in range(2):
                with pytest.raises(RequestError):
                    async with gateway.receive_request(Caller()) as arrival:
                        await gateway.start(PHOTOS[:1], options, arrival=arrival)
    finally:
        await gateway.aclose()


async def test_a_damaged_photo_does_not_keep_the_others_out():
    door = Admission(GatewayConfig())
    halves = [photo[: len(photo) // 2] for photo in PHOTOS]
    outcomes = await asyncio.gather(*(door.photos([raw]) for raw in (*halves, *PHOTOS)), return_exceptions=True)
    assert [isinstance(outcome, PhotoError) for outcome in outcomes] == [True] * 4 + [False] * 4


async def test_a_photo_that_takes_longer_is_decoded_in_a_thread_with_the_same_result():
    out = io.BytesIO()
    Image.open(io.BytesIO(PHOTOS[0])).save(out, "PNG")
    (photo,) = await Admission(GatewayConfig()).photos([out.getvalue()])
    assert (photo.width, photo.height) == (320, 240)


@pytest.mark.parametrize(("size", "options"), [((320, 240), {"progressive": True}), ((1600, 1200), {})])
async def test_a_photo_that_turns_out_not_to_be_small_is_opened_once(size, options, monkeypatch):
    out = io.BytesIO()
    Image.new("RGB", size, "green").save(out, "JPEG", **options)
    opened, open_picture = [], Image.open

    def noted(*given, **named):
        opened.append(given)
        return open_picture(*given, **named)

    monkeypatch.setattr(Image, "open", noted)
    (photo,) = await Admission(GatewayConfig()).photos([out.getvalue()])
    assert ((photo.width, photo.height), len(opened)) == (size, 1)
