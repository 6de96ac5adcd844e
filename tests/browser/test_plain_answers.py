"""What an analyst has to know beside an answer: how exactly it is known, by what, and what was not looked at."""

import re

import pytest
from support.basics import sign_bytes
from support.chromium import CHROMIUM, MISSING
from support.page import ANSWERED, FREE, choose, locate, text_of, violations, write
from support.service import an_app, serving

from tts.config import ScriptedEngine
from tts.package_files import SAMPLES

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=MISSING), pytest.mark.asyncio(loop_scope="module")]
TOWN, GREEK, ARABIC, CHINESE = (
    SAMPLES / f"{name}.jpg" for name in ("town-sign-latin", "opening-hours-greek", "station-arabic", "station-chinese")
)
DEVELOPERS_WORDS = re.compile(
    r"rollout|hypothes|ledger|egress|dialect|verifier|trajector|prompt|\bseed\b|\bp50\b|\bp90\b", re.IGNORECASE
)
KNOWN = "document.querySelector('#map path.known')"


async def test_an_answer_of_a_country_names_the_country_before_the_point(page):
    await locate(page, GREEK)
    header = await text_of(page, "#answer header")
    assert header.startswith("Cyprus\n")
    assert "Only the country is known." in await text_of(page, "#answer header .lead")
    assert header.index("Only the country is known") < header.index("35.1")
    assert "It only stands for the country." in await text_of(page, ".stands-for")
    await page.wait_until(f"{KNOWN} !== null")
    await page.wait_until(f"{KNOWN}.getBBox().width > 50")  # an outline, not a dot
    legend = await text_of(page, "#map-legend")
    for words in ("a point that stands for the country", "thick outline: Cyprus", "they cross borders and coasts"):
        assert words in legend


async def test_an_answer_of_a_town_states_its_radius_around_the_centre_of_the_town(page):
    await locate(page, TOWN)
    assert "3.0 km" in await text_of(page, "#answer .facts")
    assert "around the centre of the town" in await text_of(page, "#answer .facts")
    assert "may be from anywhere in it" in await text_of(page, ".stands-for")
    assert await page.js(KNOWN) is None


async def test_the_legend_says_what_is_on_the_map_and_nothing_else(page):
    await locate(page, TOWN)
    await page.wait_until("document.querySelectorAll('#map .region').length == 2")
    legend = await text_of(page, "#map-legend")
    for words in ("star: the centre of the town", "firm circle", "round number", "a place that evidence names"):
        assert words in legend
    assert "square with a number" not in legend
    assert "violet" not in legend
    await page.js("document.getElementById('layer-evidence').click()")
    assert "a place that evidence names" not in await text_of(page, "#map-legend")


async def test_evidence_that_rests_on_one_text_of_the_photo_is_one_card(page):
    await locate(page, TOWN)
    cards = await page.js("[...document.querySelectorAll('#answer .evidence > li')].map((one) => one.innerText)")
    about = [card for card in cards if card.startswith("Text in the photo: Bellinzona")]
    assert len(about) == 1
    assert "findings from this one text" in about[0]
    assert await page.js("document.querySelectorAll('.group .findings > li').length") >= 3
    assert not [card for card in cards if card not in about and "Bellinzona lies" in card]


async def test_the_page_says_if_the_odds_of_a_claim_rest_on_one_clue(page, tmp_path):
    await choose(page, TOWN)
    await page.js("document.getElementById('check').open = true")
    await write(page, "claim-0", "Lugano")
    await page.js("document.getElementById('go').click()")
    await page.wait_until(ANSWERED)
    assert (await text_of(page, ".one-clue")).startswith("This rests on one clue, the text Bellinzona.")
    await page.wait_until(FREE)
    two = tmp_path / "two.jpg"
    two.write_bytes(sign_bytes("Bellinzona", "6500 Ticino", "+41 91 825 21 31"))
    await page.js("document.querySelector('#thumbs li button').click()")
    await choose(page, two)
    await page.js("document.getElementById('go').click()")
    await page.wait_until("document.querySelectorAll('#case-runs .entry').length == 2")
    await page.wait_until(FREE)
    await page.wait_until("document.querySelectorAll('#answer .checked').length == 1")
    assert await text_of(page, ".one-clue") == ""


async def test_an_attempt_that_does_not_know_is_not_counted_as_answered(data_store, tab, tmp_path):
    tape = tmp_path / "tape.jsonl"
    tape.write_text(
        '{"rollout": 0, "text": "{\\"lat\\": 48.86, \\"lon\\": 2.34, \\"country\\": \\"France\\"}"}\n'
        '{"rollout": 1, "text": "{\\"lat\\": null, \\"lon\\": null, \\"country\\": \\"\\"}"}\n'
    )
    async with serving(an_app(ScriptedEngine(tape=str(tape)))) as (url, _):
        await tab.look()
        await tab.open(url)
        await tab.wait_until("document.getElementById('foot').textContent")
        await choose(tab, TOWN)
        await tab.js("document.getElementById('depth').value = 'deep'; document.getElementById('rollouts').value = 2")
        await tab.js("document.getElementById('go').click()")
        await tab.wait_until(ANSWERED)
        assert "1 of 2 attempts of one model named a place, 1 does not know" in await text_of(tab, "#answer .facts")
        badges = await tab.js("[...document.querySelectorAll('.lane .badge')].map((one) => one.innerText)")
        assert badges == ["answered", "does not know"]
        await tab.open("about:blank")


async def test_the_page_says_beside_photos_and_abstentions_what_the_engine_cannot_see(page, tmp_path):
    sentence = "It does not see buildings, landscapes or streets."
    assert sentence in await text_of(page, "#sees")
    below = "document.getElementById('sees').getBoundingClientRect().bottom"
    assert await page.js(below) < 500
    blank = tmp_path / "blank.png"
    blank.write_bytes(sign_bytes())
    await locate(page, blank)
    assert sentence in await text_of(page, "#answer header")


async def test_photos_that_do_not_fit_one_place_have_no_common_answer(page, axe):
    await locate(page, ARABIC, CHINESE)
    assert (await text_of(page, "#answer .contradiction")).startswith("These photos can hardly be of the same place")
    assert await text_of(page, "#answer-title") == "These photos do not fit one place"
    assert "Photo 1: not known" in await text_of(page, ".each-photo")
    assert "Photo 2: Zaozhuang" in await text_of(page, ".each-photo")
    assert await violations(page, axe) == set()


async def test_cases_of_one_place_differ_by_file_verdict_and_picture(page):
    await locate(page, GREEK)
    await page.wait_until(FREE)
    await page.js("document.getElementById('new-case').click()")
    await page.wait_until("document.getElementById('answer').hidden")
    await page.js("document.querySelectorAll('#thumbs li button').forEach((one) => one.click())")
    await choose(page, TOWN)
    await page.js("document.getElementById('check').open = true")
    await write(page, "claim-0", "Lugano")
    await page.js("document.getElementById('go').click()")
    await page.wait_until(ANSWERED)
    await page.wait_until(FREE)
    await page.wait_until("document.querySelector('#case-runs .entry').innerText.includes('contradicted')")
    await page.js("location.hash = '#cases'")
    await page.wait_until("document.querySelectorAll('#cases-list .case-row img').length >= 2")
    rows = await page.js("[...document.querySelectorAll('#cases-list .case-row')].map((one) => one.innerText)")
    assert any("contradicted · found: Bellinzona" in row for row in rows)
    assert any("opening-hours-greek.jpg: Cyprus" in row for row in rows)
    assert all(re.search(r"changed \d{4}-\d\d-\d\d \d\d:\d\d UTC", row) for row in rows)
    await write(page, "cases-words", "opening-hours-greek")
    await page.wait_until(
        "[...document.querySelectorAll('#cases-list .case-row')].every((one) => one.innerText.includes('Cyprus'))"
    )


COVERED = """(() => {
  const fields = [...document.querySelectorAll('#form :is(input, select, textarea, summary)')]
    .filter((one) => one.checkVisibility() && one.type != 'file' && one.type != 'radio');
  const covered = [];
  for (const one of fields) {
    one.focus();
    const { left, top, width, height } = one.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + Math.min(height, 30) / 2);
    if (hit && hit.closest('.buttons')) covered.push(one.id || one.textContent);
  }
  return [fields.length, covered];
})()"""


@pytest.mark.parametrize(("width", "height"), [(360, 640), (640, 450), (1280, 600), (1280, 900)])
async def test_no_field_lies_under_the_button(page, width, height):
    """640 × 450 is a window of 1280 × 900 at 200 %."""
    await page.look(width=width, height=height)
    await page.js("document.querySelectorAll('#form details').forEach((one) => { one.open = true; })")
    fields, covered = await page.js(COVERED)
    assert fields > 8
    assert covered == []


@pytest.mark.parametrize("claim", ["", "Lugano"])
async def test_an_analyst_reads_no_words_of_developers(page, claim):
    await choose(page, TOWN)
    await write(page, "claim-0", claim)
    await page.js("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    shown = [await page.js("document.body.innerText")]
    await page.js("document.getElementById('depth').value = 'deep'; document.getElementById('go').click()")
    await page.wait_until(ANSWERED)
    await page.wait_until(FREE)
    await page.js("document.querySelectorAll('details:not(.call)').forEach((one) => { one.open = true; })")
    shown.append(await page.js("document.body.innerText"))
    assert [found.group() for text in shown for found in DEVELOPERS_WORDS.finditer(text)] == []
