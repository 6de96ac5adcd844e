"""What is asked about a photo after it was located, in a real Chromium: claims, facts, places that are ruled out."""

import base64
import re

import pytest
from support.chromium import CHROMIUM, MISSING
from support.page import ANSWERED, FREE, choose, entries, locate, text_of, violations, write
from support.service import an_app, serving

from tts.config import ScriptedEngine
from tts.errors import ModelError, Overloaded
from tts.package_files import SAMPLES

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=MISSING), pytest.mark.asyncio(loop_scope="module")]
TOWN = SAMPLES / "town-sign-latin.jpg"  # Bellinzona
ENTER = ("Enter", 13, "\r")


async def claim(tab, *places):
    """Write claimed places into the form, with the keyboard alone."""
    await tab.js("document.getElementById('check').open = true")
    for number, place in enumerate(places):
        if number:
            await tab.js("document.getElementById('claims-more').focus()")
            await tab.press(*ENTER)
        await write(tab, f"claim-{number}", place)


async def wait_for_title(tab, words):
    await tab.wait_until(f"document.getElementById('answer-title')?.innerText.includes('{words}')")
    await tab.wait_until(FREE)


async def test_a_claim_is_checked_against_the_photo_and_kept_in_the_case(service, page):
    await choose(page, TOWN)
    await claim(page, "filmed in Lugano")
    assert await text_of(page, "#go") == "Check the claim"
    await page.press(*ENTER)
    await wait_for_title(page, "The photo contradicts the claim: Lugano (Switzerland)")
    shown = await text_of(page, "#answer")
    for words in ("below 1 %", "to 1 against it", "Best place elsewhere", "Bellinzona",
                  "that knew nothing of the claim",
                  "“filmed in Lugano” is understood as Lugano", "Nothing was found that speaks for it.",
                  "Found without the claim: Bellinzona"):  # fmt: skip
        assert words in shown
    assert shown.count("%") == 1  # one certainty, about the claim
    assert "was asked to test the claim; it has no vote" in await text_of(page, "#lanes")
    assert [one for one in page.requests if one.endswith("/check")]
    assert "cannot" not in (await entries(page))[0]
    await page.wait_until(
        "document.querySelector('#case-runs small').innerText.includes('contradicted · found: Bellinzona')"
    )
    assert "Check: filmed in Lugano" in (await entries(page))[0]
    await page.reload()
    await wait_for_title(page, "The photo contradicts the claim")
    case = (await service[1].store.cases(""))[0]
    assert '"verdict":"contradicted"' in case.body


async def test_evidence_about_a_claim_leads_to_the_call_that_it_quotes(page):
    await choose(page, TOWN)
    await claim(page, "Lugano")
    await page.press(*ENTER)
    await wait_for_title(page, "contradicts")
    assert await text_of(page, "#answer .against q") == "Bellinzona"
    await page.js("document.querySelector('#answer .against .as-link').click()")
    assert await page.js("document.activeElement.closest('.call').open")
    assert "Bellinzona" in await page.js("document.activeElement.closest('.call').innerText")


async def test_the_claimed_area_and_the_place_elsewhere_are_on_the_map(page):
    await choose(page, TOWN)
    await claim(page, "46.01, 8.96, 12")
    await page.press(*ENTER)
    await wait_for_title(page, "contradicts")
    await page.wait_until("document.querySelectorAll('#map .claimed').length == 1")
    await page.wait_until("Boolean(document.querySelector('#map [aria-label^=\"Claimed: within 12 km\"]'))")
    await page.js("document.querySelector('#answer .checked .facts .as-link').click()")  # the place elsewhere
    await page.wait_until("document.activeElement.getAttribute('aria-label')?.startsWith('Answer: Bellinzona')")
    assert await text_of(page, "#map .far") == "21 km"
    await page.js("document.querySelector('#answer .checked > .small .as-link').click()")
    await page.wait_until("document.activeElement.getAttribute('aria-label')?.startsWith('Claimed: ')")


async def test_places_are_compared_the_likeliest_first(page):
    await choose(page, TOWN)
    await claim(page, "Lugano", "Bellinzona", "bbox:45,9.5,46,10")
    assert await text_of(page, "#go") == "Compare the places"
    await page.press(*ENTER)
    await wait_for_title(page, "Of these places, the photo supports Bellinzona")
    rows = await page.js("[...document.querySelectorAll('.compared li')].map((row) => row.innerText)")
    assert rows[0].startswith("Bellinzona (Switzerland) · supported")
    assert "above 99 %" in rows[0]
    await page.wait_until("document.querySelectorAll('#map .claimed').length == 3")
    assert "Compare: Lugano or Bellinzona" in (await entries(page))[0]


async def test_a_claim_is_checked_on_the_photo_that_is_looked_at(page):
    await locate(page, TOWN)
    await page.wait_until(FREE)
    await write(page, "again-claim", "Japan")
    await page.press(*ENTER)
    await wait_for_title(page, "Japan")
    await page.wait_until("Boolean(document.querySelector('#map [aria-label^=\"Claimed: Japan\"]'))")
    outline = "document.querySelector('#map path.claimed')"
    await page.wait_until(f"{outline}?.getAttribute('d').length > 100")
    await page.js("document.querySelector('#answer .checked > .small .as-link').click()")
    await page.wait_until("document.activeElement.getAttribute('aria-label')?.startsWith('Claimed: Japan')")
    assert len(await entries(page)) == 2
    await page.js("document.querySelector('#case details').open = true")
    await write(page, "claim-text", "taken in Bellinzona")
    await page.press(*ENTER)
    await page.wait_until("Boolean(document.querySelector('#case-claims [aria-label=\"Check: taken in Bellinzona\"]'))")
    await page.js("document.querySelector('#case-claims [aria-label=\"Check: taken in Bellinzona\"]').click()")
    await wait_for_title(page, "supports the claim: Bellinzona")
    assert len(await entries(page)) == 3


async def test_the_page_locates_again_without_a_ruled_out_place_and_says_what_changed(page):
    await locate(page, TOWN)
    await page.wait_until(FREE)
    await page.js("document.querySelector('.candidate .small-button').focus()")
    assert await page.js("document.activeElement.getAttribute('aria-label')") == (
        "Not there: Bellinzona, Ticino, Switzerland is ruled out, and the photo is looked at again"
    )
    await page.press(*ENTER)
    await page.wait_until("Boolean(document.querySelector('.changed'))")
    await page.wait_until(FREE)
    assert "Bellinzona (Switzerland)" in await text_of(page, ".changed")
    assert "Bellinzona" not in await text_of(page, "#answer-title")
    assert await text_of(page, ".contradiction") == "The photo says Bellinzona (Switzerland), which you ruled out."
    assert "Not Bellinzona" in (await entries(page))[1]
    await page.js("document.querySelector('.changed button').click()")
    await page.wait_until("document.getElementById('answer-title').innerText.includes('Bellinzona')")
    assert len(await entries(page)) == 2


async def test_a_fact_is_added_and_the_photo_is_looked_at_again(page):
    await locate(page, TOWN)
    await page.wait_until(FREE)
    await write(page, "again-fact", "not in Switzerland")
    await page.press(*ENTER)
    await page.wait_until("Boolean(document.querySelector('.changed'))")
    await page.wait_until(FREE)
    assert [one for one in page.requests if one.endswith("/continue")]
    assert "Switzerland" not in await text_of(page, "#answer-title")
    assert "Added: not in Switzerland" in (await entries(page))[1]


async def refuse(*args, **about):
    """What a service does that takes no more work."""
    raise Overloaded("the service is busy", retry_after_s=7)


async def fail_rollouts(group):
    """Rollouts whose model cannot be asked."""
    raise ModelError("the endpoint does not answer")
    yield  # a generator that never gets here


@pytest.mark.parametrize(
    ("step", "text"), [("again-fact", "in the south"), ("again-claim", "Lugano"), ("not-there-0", None)]
)
async def test_a_refused_follow_up_keeps_the_answer_and_explains_itself_beside_its_field(
    service, page, axe, monkeypatch, step, text
):
    await locate(page, TOWN)
    await page.wait_until(FREE)
    monkeypatch.setattr(service[1], "start", refuse)
    if text:
        await write(page, step, text)
    else:
        await page.js(f"document.getElementById('{step}').focus()")
    await page.press(*ENTER)
    await page.wait_until(f"document.getElementById('{step}-status').innerText.includes('What to do')")
    shown = await text_of(page, f"#{step}-status")
    for words in ("Busy.", "the service is busy", "The service is busy with other photos. Try again in 7 s."):
        assert words in shown
    assert await page.js(ANSWERED)
    assert await page.js("document.getElementById('problem').hidden")
    assert "Bellinzona" in await text_of(page, "#answer-title")
    assert await page.js("document.activeElement.id") == step
    assert len(await entries(page)) == 1
    if text:
        assert await page.js(f"document.getElementById('{step}').value") == text
        assert await page.js(f"document.getElementById('{step}').getAttribute('aria-invalid')") == "true"
    assert await violations(page, axe) == set()
    await page.js(f"document.getElementById('{step}').focus()")
    monkeypatch.undo()
    await page.press(*ENTER)  # what was written is still there
    await page.wait_until("document.querySelectorAll('#case-runs .entry:is(.done, .abstained)').length == 2")
    page.console_errors.clear()  # a refused request is an error in the console


async def test_a_claim_that_names_no_place_is_refused_beside_the_answer(page):
    await locate(page, TOWN)
    await page.wait_until(FREE)
    await write(page, "again-claim", "qqqxyzzy")
    await page.press(*ENTER)
    await page.wait_until("document.getElementById('again-claim-status').innerText.includes('What to do')")
    shown = await text_of(page, "#again-claim-status")
    assert "names no place that GeoTTS knows" in shown
    assert "Write the name of a town, region or country" in shown
    assert "Bellinzona" in await text_of(page, "#answer-title")
    assert await page.js("document.activeElement.id") == "again-claim"
    await write(page, "again-claim", " ")
    assert await page.js("document.activeElement.getAttribute('aria-invalid')") is None
    page.console_errors.clear()


async def test_a_failed_follow_up_leaves_the_earlier_answer_on_the_page(service, page, monkeypatch):
    await locate(page, TOWN)
    await page.wait_until(FREE)
    gateway = service[1]
    monkeypatch.setattr(gateway.ports.rollouts, "run", fail_rollouts)
    await write(page, "again-fact", "in the south")
    await page.press(*ENTER)
    await page.wait_until("document.getElementById('again-fact-status')?.innerText.includes('What to do')")
    await page.wait_until(FREE)
    assert "the endpoint does not answer" in await text_of(page, "#again-fact-status")
    assert await page.js(ANSWERED)
    assert "Bellinzona" in await text_of(page, "#answer-title")
    assert await page.js("document.activeElement.id") == "again-fact"
    assert await page.js("document.getElementById('again-fact').value") == "in the south"
    assert "failed" in (await entries(page))[1]
    await page.js("document.querySelector('#again-fact-status button').click()")  # what it did
    await page.wait_until("!document.getElementById('problem').hidden")
    page.console_errors.clear()


async def test_a_cancelled_follow_up_leaves_the_earlier_answer_on_the_page(data_store, tab):
    slow = an_app(ScriptedEngine(turns=3, tokens_per_turn=8, turn_s=2))  # time to cancel, on a busy machine
    async with serving(slow) as (url, _):
        await tab.look()
        await tab.open(url)
        await tab.wait_until("document.getElementById('foot').textContent")
        await locate(tab, TOWN)
        await tab.wait_until(FREE)
        await write(tab, "again-fact", "in the south")
        await tab.press(*ENTER)
        await tab.wait_until("document.activeElement.id == 'stop'")
        await tab.press("Escape", 27)
        await tab.wait_until("document.getElementById('again-fact-status')?.innerText.includes('Cancelled')")
        assert "Paris" in await text_of(tab, "#answer-title")
        await tab.wait_until(FREE)
        assert await tab.js("document.activeElement.id") == "again-fact"
        await tab.open("about:blank")


async def test_a_second_claim_that_names_no_place_is_refused_at_its_field(page):
    await choose(page, TOWN)
    await claim(page, "Lugano", "qqqxyzzy")
    await page.press(*ENTER)
    await page.wait_until("!document.getElementById('problem').hidden")
    shown = await text_of(page, "#problem")
    assert "names no place that GeoTTS knows" in shown
    assert "Write the name of a town, region or country" in shown
    assert await page.js("document.activeElement.id") == "claim-1"
    assert await page.js("document.activeElement.getAttribute('aria-invalid')") == "true"
    assert await page.js("document.getElementById('claim-0').getAttribute('aria-invalid')") is None
    page.console_errors.clear()  # a refused request is an error in the console


SHOWN = """(selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility()
    && one.getBoundingClientRect().width > 1).map((one) => one.innerText || one.id || one.className)"""


@pytest.mark.parametrize(("dark", "places"), [(False, ()), (True, ("Italy",))])
async def test_an_answer_is_printed_on_two_pages_without_buttons(page, dark, places):
    await page.look(dark=dark)
    await choose(page, TOWN)
    await claim(page, *places)
    await page.js("document.getElementById('go').click()")
    await page.wait_until(ANSWERED)
    await page.wait_until(FREE)
    await page.wait_until("document.querySelectorAll('.leaflet-tile-loaded').length > 3")
    paper = await page.ask("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69)
    pages = re.findall(rb"/Type\s*/Page\b(?!s)", base64.b64decode(paper["data"]))
    assert 1 <= len(pages) <= 2
    assert await page.js("document.getElementById('map-view').style.inlineSize") == ""  # as before
    await page.ask("Emulation.setEmulatedMedia", media="print")
    await page.js("dispatchEvent(new Event('beforeprint'))")
    buttons = (
        ":is(button, .leaflet-bar a, input, select, textarea):not(.photo-strip button, .evidence button, #case-title)"
    )
    assert await page.js(f"({SHOWN})('{buttons}')") == []
    for part in ("#answer-title", "#map-view", ".photo-strip img", ".evidence blockquote", ".provenance dd"):
        assert await page.js(f"({SHOWN})('{part}')"), part
    assert await page.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    await page.js("dispatchEvent(new Event('afterprint'))")
    await page.ask("Emulation.setEmulatedMedia", media="")


async def test_without_a_calibration_there_is_evidence_and_no_odds(data_store, tab):
    async with serving(an_app()) as (url, _):
        await tab.look()
        await tab.open(url)
        await tab.wait_until("document.getElementById('foot').textContent")
        await choose(tab, TOWN)
        await claim(tab, "Paris")
        await tab.press(*ENTER)
        await tab.wait_until(ANSWERED)
        shown = await text_of(tab, ".checked")
        assert "It cannot be decided whether this is Paris" in shown
        assert "There are no odds: nothing was calibrated for this engine" in shown
        assert "%" not in shown
        await tab.open("about:blank")


async def test_the_page_of_a_check_has_no_accessibility_violation(page, axe):
    await choose(page, TOWN)
    await claim(page, "Lugano", "Bellinzona")
    found = await violations(page, axe)
    await page.js("document.getElementById('go').click()")
    await wait_for_title(page, "supports")
    await page.wait_until("document.querySelectorAll('.leaflet-tile-loaded').length > 3")
    await page.js("for (const one of document.querySelectorAll('details')) one.open = true")
    found |= await violations(page, axe)
    await page.js("document.querySelector('.candidate .small-button').click()")
    await page.wait_until("Boolean(document.querySelector('.changed'))")
    await page.wait_until(FREE)
    found |= await violations(page, axe)
    await write(page, "again-claim", "Lugano")
    await page.press(*ENTER)
    await wait_for_title(page, "contradicts")
    found |= await violations(page, axe)
    for number in (1, 0):
        await page.js(f"document.getElementById('claim-{number}').value = 'qqqxyzzy'")
    await page.js("document.getElementById('go').click()")
    await page.wait_until("!document.getElementById('problem').hidden")
    found |= await violations(page, axe)
    page.console_errors.clear()
    assert found == set()
