"""A belief with several peaks on the page and in the report, in a real Chromium: areas there, circles for one peak."""

import json

import pytest
from support.basics import sign_bytes
from support.chromium import CHROMIUM, MISSING
from support.page import FREE, locate, text_of

from tts.domain.photo_cleaning import load_photo
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.report.html_report import report_page

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=MISSING), pytest.mark.asyncio(loop_scope="module")]
SEVERAL = "a firm edge: it is probably inside one of them · with a dashed edge: very probably"
WIDE = "areas: it is probably inside one of them; it may also be on another continent"
SHAPES = """JSON.stringify([...document.querySelectorAll('#map .region')].map((one) => {
    const box = one.getBoundingClientRect();
    return [one.classList.contains('firm'), one.getAttribute('d').split('M').length - 1, box.width, box.height];
}))"""


async def drawn_regions(tab, tmp_path, name, number):
    """Locate a sign that says `name`; then each area that the map shows, by whether its edge is firm: how many rings
    it has, and its size in pixels."""
    photo = tmp_path / f"{name}.jpg"
    photo.write_bytes(sign_bytes(name))
    await locate(tab, photo)
    await tab.wait_until(FREE)
    await tab.wait_until(f"document.querySelectorAll('#map .region').length == {number}")
    shapes = {firm: tuple(rest) for firm, *rest in json.loads(await tab.js(SHAPES))}
    assert len(shapes) == number
    return shapes


async def test_a_belief_with_several_peaks_is_drawn_as_both_regions(page, tmp_path):
    shapes = await drawn_regions(page, tmp_path, "Halle", 2)  # on the Saale, in Westphalia, and others
    (wide, *outer), (firm, *inner) = shapes[False], shapes[True]
    assert firm > 1
    assert wide >= 1
    assert all(0 < small < large for small, large in zip(inner, outer, strict=True))
    assert SEVERAL in await text_of(page, "#answer .circles")


async def test_a_belief_with_one_peak_is_drawn_as_two_circles(page, tmp_path):
    shapes = await drawn_regions(page, tmp_path, "Bellinzona", 2)
    for rings, width, height in shapes.values():
        assert rings == 1
        assert 0.8 < width / height < 1.25
    assert "firm circle: it is probably inside · dashed circle" in await text_of(page, "#answer .circles")


async def test_peaks_on_several_continents_are_drawn_as_the_region_that_is_not_too_wide(page, tmp_path):
    shapes = await drawn_regions(page, tmp_path, "Valencia", 1)  # in Spain, in Venezuela
    assert shapes[True][0] == 2
    assert WIDE in await text_of(page, "#answer .circles")


@pytest.mark.parametrize(("name", "words"), [("Halle", f"areas with {SEVERAL}"), ("Valencia", WIDE)])
async def test_the_report_draws_the_regions_of_an_answer_too(service, tab, tmp_path, cartographer, name, words):
    _, gateway = service
    photo = sign_bytes(name)
    started = await gateway.start([photo], LocateOptions(n_parallel=2, seed=1))
    run = await gateway.result(started.request_id)
    one_peak = run.answer.model_copy(update={"region_50": None, "region_90": None})
    pictures = []
    for answer in (run.answer, one_peak):
        path = tmp_path / "report.html"
        path.write_text(report_page(Run(answer=answer), cartographer, load_photo(photo)))
        await tab.open(path.as_uri())
        await tab.wait_until("document.querySelector('.pictures img.map')?.naturalWidth == 640")
        pictures.append(await tab.js("document.querySelector('.pictures img.map').src"))
        caption = await text_of(tab, ".pictures figcaption")
        assert (words in caption) is (answer is run.answer)
    assert pictures[0] != pictures[1]
    await tab.open("about:blank")
