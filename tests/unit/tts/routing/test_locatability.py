"""Locatability: each way of rating gives a score, its parts and a sentence; what is pictured alone decides nothing."""

import asyncio
import io

import numpy as np
import pytest
from PIL import Image, ImageDraw
from support.basics import a_context, virtual_time

from tts.domain.photo import Box, Photo
from tts.domain.photo_cleaning import load_photo
from tts.domain.plan import Depth, Limits, Locatability, PlanDepth
from tts.domain.reading import Reading, TextLine
from tts.domain.request import LocateOptions
from tts.domain.usage import Usage
from tts.errors import DataError, ModelError
from tts.ports.locator import Routing
from tts.ports.model_client import Delta
from tts.routing.depth_router import DepthRouter
from tts.routing.locatability import CuesLocator, FixedLocator, rate_cues
from tts.routing.photo_measures import image_cues
from tts.routing.predictor import fit, load_predictor
from tts.routing.probe import ProbeLocator, parse_probe
from tts.routing.segmentation import area_shares, class_weights, visual_rating
from tts.routing.small_copy import small_copy

ROAD = 6
SKY = 2
BED = 7


def line(text, script="Latn"):
    return TextLine(text=text, box=Box(x0=0.1, y0=0.1, x1=0.5, y1=0.2), confidence=0.9, script=script)


def reading(*lines, **cues):
    return Reading(photo_sha256="0" * 64, lines=lines, cues=cues)


def test_l_visual_is_the_sum_of_share_times_weight():
    segmentation = np.full((4, 4), SKY)
    segmentation[2:] = ROAD
    segmentation[3, 2:] = BED
    names, weights = class_weights()
    assert (names[ROAD], len(names), len(weights)) == ("road", 150, 150)
    by_hand = 8 / 16 * 0.1682270176863706 + 6 / 16 * 1.0 + 2 / 16 * 0.00429082773900915
    assert visual_rating(segmentation).score == pytest.approx(by_hand, abs=1e-4)
    assert "road 0.38" in visual_rating(segmentation).why


def test_pixels_without_a_class_count_to_the_whole():
    assert area_shares(np.array([[ROAD, -1], [255, ROAD]])).sum() == 0.5


def picture(draw_it):
    image = Image.new("RGB", (320, 240), (70, 60, 50))
    draw_it(ImageDraw.Draw(image))
    out = io.BytesIO()
    image.save(out, "PNG")
    return load_photo(out.getvalue())


def test_cues_see_sky_green_and_lines():
    meadow = picture(lambda d: (d.rectangle((0, 0, 320, 120), fill=(110, 160, 235)),
                                d.rectangle((0, 120, 320, 240), fill=(60, 150, 40))))  # fmt: skip
    grid = picture(lambda d: [d.line((x, 0, x, 240), fill=(230, 230, 230), width=3) for x in range(5, 320, 24)])
    seen, built = image_cues(small_copy(meadow)), image_cues(small_copy(grid))
    assert 0.4 < seen["sky"] < 0.6
    assert 0.4 < seen["vegetation"] < 0.6
    assert seen["indoor"] < 0.1
    assert built["structure"] > seen["structure"] + 0.3
    assert all(0 <= value <= 1 for value in (*seen.values(), *built.values()))


def test_text_makes_a_photo_locatable_and_a_telling_script_more_so():
    nothing, latin, thai = (
        rate_cues([reading()]),
        rate_cues([reading(line("Inselpark"))]),
        rate_cues([reading(line("ตลาดน้ำ", "Thai"))]),
    )
    assert nothing.score < 0.12 < latin.score < thai.score
    assert nothing.why.startswith("no readable text")
    assert latin.why.startswith("one readable line in Latin script")
    both = rate_cues([reading(line("Inselpark"), line("ตลาดน้ำ", "Thai"))])
    assert both.why.startswith("2 readable lines in Latin and Thai script")


class Eyes:
    async def read(self, photo, box, context, language=""):
        return reading(line("Wilhelmsburg"))


async def test_the_reading_of_the_photo_is_passed_on_with_its_cues(blank_photo):
    routing = await CuesLocator(Eyes()).rate([blank_photo], a_context())
    assert routing.readings[0].cues.keys() == {"sky", "vegetation", "structure", "blur", "indoor", "content"}
    assert routing.locatability.method == "cues"


async def test_the_cues_decode_a_photo_once(blank_photo, monkeypatch):
    decoded, image = [], Photo.image

    def noted(photo):
        decoded.append(photo)
        return image(photo)

    monkeypatch.setattr(Photo, "image", noted)
    await CuesLocator(Eyes()).rate([blank_photo], a_context())
    assert decoded == [blank_photo]


class Talker:
    name = "talker"

    def __init__(self, reply="", error=None, seconds=0.0):
        self.reply = reply
        self.error = error
        self.seconds = seconds
        self.closed = False

    async def generate(self, request):
        try:
            await asyncio.sleep(self.seconds)
            if self.error:
                raise self.error
            yield Delta(text=self.reply, finish_reason="stop")
        finally:
            self.closed = True


@pytest.mark.parametrize(
    ("reply", "found"),
    [("8 DEEP", (0.8, True)), ("10/10, quick", (1.0, False)), ("I'd say 3.", (0.3, False)), ("no idea", None)],
)
def test_the_probe_reads_a_rating_and_a_flag(reply, found):
    assert parse_probe(reply) == found


@pytest.mark.parametrize("model", [Talker(error=ModelError("down")), Talker(seconds=900), Talker("hm")],
                         ids=["down", "slow", "rambling"])  # fmt: skip
def test_a_failed_slow_or_unreadable_probe_leaves_the_other_rating_unchanged(blank_photo, model):
    @virtual_time
    async def check():
        routing = await ProbeLocator(model, FixedLocator(0.4)).rate([blank_photo], a_context())
        assert (routing.locatability.method, routing.locatability.score) == ("fixed", 0.4)
        assert model.closed

    check()


async def test_the_router_follows_the_probe(blank_photo):
    routing = await ProbeLocator(Talker("7 DEEP"), FixedLocator(0.4)).rate([blank_photo], a_context())
    assert DepthRouter(Limits()).plan(LocateOptions(), routing).depth is PlanDepth.DEEP


@pytest.mark.parametrize("score", [0.0, 0.1, 0.5, 1.0])
def test_the_visual_rating_alone_decides_no_depth(score):
    rated = Routing(Locatability(score=score, method="visual", parts={"visual": score}))
    assert DepthRouter(Limits()).plan(LocateOptions(), rated).depth is PlanDepth.STANDARD


def test_the_plan_follows_the_rating():
    def plan(n=8, **rating):
        return DepthRouter(Limits()).plan(LocateOptions(n_parallel=n), Routing(Locatability(method="cues", **rating)))

    assert plan(score=0.05).depth is PlanDepth.HOPELESS
    assert plan(score=0.9).depth is PlanDepth.DIRECT
    assert (plan(score=0.9).n_planned, plan(score=0.9).use_tools, plan(score=0.9).limits.max_turns) == (1, False, 1)
    assert (plan(score=0.5).depth, plan(score=0.5).n_planned, plan(score=0.5).limits.max_turns) == ("standard", 2, 4)
    assert (plan(score=0.5, parts={"deep": 0.7}).depth, plan(score=0.5, parts={"deep": 0.7}).n_planned) == ("deep", 8)
    assert plan(score=0.5).predicted_cost["rollouts"] == 2


def test_escalation_adds_rollouts_then_depth_within_ceiling_and_budget():
    router, options = DepthRouter(Limits()), LocateOptions(n_parallel=6, max_tool_calls=12)
    first = router.plan(options, Routing(Locatability(score=0.5, method="cues")))
    more = router.escalate(first, options, started=2, spent=Usage(tool_calls=4))
    deeper = router.escalate(more, options, started=4, spent=Usage(tool_calls=8))
    assert (first.n_planned, more.depth, more.n_planned) == (2, "standard", 2)
    assert (deeper.depth, deeper.n_planned, deeper.limits.max_tool_calls) == ("deep", 2, 2)
    assert router.escalate(deeper, options, started=6, spent=Usage()) is None
    assert router.escalate(first, options, started=2, spent=Usage(tool_calls=12)) is None


def test_a_depth_other_than_auto_is_planned_exactly_as_asked():
    plan = DepthRouter(Limits()).plan(
        LocateOptions(n_parallel=5, depth=Depth.STANDARD), Routing(Locatability(score=0, method="cues"))
    )
    assert (plan.n_planned, plan.depth) == (5, PlanDepth.STANDARD)


def made_photos(n=200):
    rng = np.random.default_rng(4)
    text, visual = rng.random(n), rng.random(n)
    deep = text > 0.5
    return [{"text": float(t), "visual": float(v)} for t, v in zip(text, visual, strict=True)], deep, 1.0 - 0.8 * text


def test_a_fitted_predictor_separates_easy_from_hard_photos_and_survives_its_file(tmp_path):
    parts, deep, l_opt = made_photos()
    predictor = fit(parts, list(l_opt), list(deep), origin="made")
    predictor.write(tmp_path / "depth.yaml")
    again = load_predictor(tmp_path / "depth.yaml")
    easy, hard = (again.refine(Locatability(score=0, method="cues", parts={"text": t, "visual": 0.5})) for t in (0, 1))
    assert easy.parts["deep"] < 0.2
    assert hard.parts["deep"] > 0.8
    assert easy.score > hard.score + 0.4
    assert again == predictor


def test_predictors_of_the_visual_part_alone_are_refused(tmp_path):
    parts, deep, l_opt = made_photos()
    with pytest.raises(DataError, match="pictured"):
        fit([{"visual": p["visual"]} for p in parts], list(l_opt), list(deep), origin="made")
    with pytest.raises(DataError, match="too few"):
        fit(parts[:5], list(l_opt[:5]), list(deep[:5]), origin="made")
    (tmp_path / "old.yaml").write_text("schema_version: 0\n")
    with pytest.raises(DataError, match="calibrate-depth"):
        load_predictor(tmp_path / "old.yaml")
