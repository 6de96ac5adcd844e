"""By which filter a picture is scaled before a model sees it: the dialect's or the profile's, to the byte."""

import base64
import io

import pytest
from PIL import Image
from support.endpoint import text_chunks
from support.openai_calls import a_model_request, deltas_of, served_model
from support.played_rollouts import made_photo
from support.played_rollouts import play_reverse as play

from tts.dialects import DIALECTS
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.dialects.settings import DialectSettings
from tts.domain.picture_rules import PictureRules, ResizeRule
from tts.inference.vllm.content_pictures import ContentPictures
from tts.profiles import load_profile

PHOTO = made_photo(1600, 1200)
BY_NAME = {
    "bicubic": Image.Resampling.BICUBIC,
    "bilinear": Image.Resampling.BILINEAR,
    "lanczos": Image.Resampling.LANCZOS,
}


def as_jpeg(photo, size, resample):
    out = io.BytesIO()
    photo.image().resize(size, resample).save(out, "JPEG", quality=90)
    return out.getvalue()


async def picture_sent(request):
    """The bytes of the one picture that the endpoint got."""
    async with served_model(lambda body, n: text_chunks("ok"), pictures="inline") as (model, endpoint):
        await deltas_of(model, request)
    urls = [
        part["image_url"]["url"]
        for message in endpoint.bodies[0]["messages"]
        for part in (message["content"] if isinstance(message["content"], list) else [])
        if part["type"] == "image_url"
    ]
    (url,) = urls
    return base64.b64decode(url.partition(",")[2])


def request_for(dialect, photo=PHOTO):
    opening = dialect.opening(Task(photos=(photo,)))
    return a_model_request(*opening, photos=(photo,), pictures=dialect.pictures)


def profile_dialect():
    """The dialect as the profile of REVERSE sets it."""
    tree = load_profile("reverse").tree(model="m", endpoint="http://127.0.0.1:9/v1")
    return DIALECTS["reverse"].with_settings(DialectSettings.model_validate(tree["dialect_settings"]))


@pytest.mark.parametrize("name", BY_NAME)
async def test_a_picture_is_scaled_by_the_configured_filter(name):
    rule = {"max_pixels": 100_000, "resample": name}
    settings = DialectSettings.model_validate({"pictures": {"photo": rule}})
    got = await picture_sent(request_for(DIALECTS["generic"].with_settings(settings)))
    assert got == as_jpeg(PHOTO, ResizeRule(max_pixels=100_000).size(1600, 1200), BY_NAME[name])


async def test_a_rule_that_names_no_filter_is_bicubic():
    dialect = GenericDialect()
    small = dialect.pictures.model_copy(update={"photo": ResizeRule(max_pixels=100_000)})
    request = a_model_request(*dialect.opening(Task(photos=(PHOTO,))), photos=(PHOTO,), pictures=small)
    assert await picture_sent(request) == as_jpeg(PHOTO, small.photo.size(1600, 1200), Image.Resampling.BICUBIC)


async def test_the_engine_in_this_process_scales_by_the_same_filter_and_names_it():
    made = {}
    for name in ("bicubic", "lanczos"):
        rules = PictureRules(photo=ResizeRule(max_pixels=100_000, resample=name))
        opening = GenericDialect().opening(Task(photos=(PHOTO,)))
        request = a_model_request(*opening, photos=(PHOTO,), pictures=rules)
        (made[name],) = await ContentPictures().pictures_of(request, tuple(opening[1].images))
        size = rules.photo.size(1600, 1200)
        assert made[name].image.tobytes() == PHOTO.image().resize(size, BY_NAME[name]).tobytes()
    assert made["bicubic"].uuid != made["lanczos"].uuid


async def test_the_same_photo_is_sent_again_under_another_name_for_another_filter():
    async with served_model(lambda body, n: text_chunks("ok"), pictures="uuid", server="vllm") as (model, endpoint):
        for name in ("bicubic", "lanczos"):
            rules = PictureRules(photo=ResizeRule(max_pixels=100_000, resample=name))
            opening = GenericDialect().opening(Task(photos=(PHOTO,)))
            await deltas_of(model, a_model_request(*opening, photos=(PHOTO,), pictures=rules))
    shown = [body["messages"][1]["content"][0] for body in endpoint.bodies]
    assert all(part["image_url"] is not None for part in shown)
    assert shown[0]["uuid"] != shown[1]["uuid"]


async def test_the_profile_of_reverse_scales_photos_by_lanczos():
    large = made_photo(4000, 3000)
    dialect = profile_dialect()
    got = await picture_sent(request_for(dialect, large))
    assert got == as_jpeg(large, dialect.pictures.photo.size(4000, 3000), Image.Resampling.LANCZOS)


async def test_a_played_rollout_of_reverse_carries_the_filter():
    played = await play(profile_dialect(), "eval", [], (1008, 756), ["<answer>Land, Town, 1.0, 2.0</answer>"])
    assert (played.requests[0].pictures.photo.resample, played.requests[0].pictures.crop.resample) == (
        "lanczos",
        "bicubic",
    )
