"""What an analyst does on the page, in a real Chromium: the map, the queue, the case, the keyboard."""

import pytest
from support.chromium import CHROMIUM, MISSING
from support.page import ANSWERED, choose, entries, locate, text_of, violations, write
from support.service import an_app, idle, serving

from deployments.runstore.sqlite import SQLiteRunStore
from tts.config import ScriptedEngine
from tts.package_files import SAMPLES

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=MISSING), pytest.mark.asyncio(loop_scope="module")]
TOWN, KOREAN, GEORGIAN = (
    SAMPLES / f"{name}.jpg" for name in ("town-sign-latin", "pharmacy-korean", "station-georgian")
)
CONTROL = 2
FIRST_LOAD_BYTES = 400_000
LONGEST_S = 600


async def test_the_page_loads_little_before_the_first_photo_is_chosen(service, page):
    assert 10_000 < page.received_bytes < FIRST_LOAD_BYTES
    assert not [one for one in page.requests if "leaflet" in one or "/tiles/" in one]
    assert "reads text in the photo" in await text_of(page, "#engine")


async def test_the_answer_is_on_a_map_that_is_used_with_pointer_and_keyboard(page):
    await locate(page, TOWN)
    await page.wait_until("document.querySelectorAll('.leaflet-tile-loaded').length > 3")
    await page.wait_until("document.querySelector('.answer-label')?.innerText == 'Bellinzona'")
    assert await page.js("document.querySelectorAll('#map .region').length") == 2
    assert await text_of(page, ".leaflet-control-scale-line")
    assert "geo:46.19" in await page.js("document.querySelector('.notations').textContent")
    found = await page.js(
        "document.querySelector('.box.for').dataset.link.match(/rollout-\\d+/)[0]"
    )  # not one that was stopped
    lane = f"document.querySelector('.lane[data-link={found}]')"
    await page.js(f"{lane}.dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}}))")
    linked = await page.js("[...document.querySelectorAll('.linked')].map((one) => one.dataset.link)")
    assert len([link for link in linked if found in link]) > 1  # the lane, its marker, its evidence
    await page.js(f"document.querySelector('#map [data-link~={found}]').focus()")
    assert await page.js("document.activeElement.getAttribute('aria-label')") == (
        f"Attempt {found.removeprefix('rollout-')}: Bellinzona, Ticino, Switzerland"
    )
    await page.press("Enter", 13, "\r")
    assert await page.js("!document.getElementById('map').contains(document.activeElement)")
    await page.js("document.querySelector('.candidate .as-link').click()")
    await page.wait_until("Boolean(document.activeElement.closest('#map'))")


async def test_several_photos_are_located_together_or_one_by_one_as_the_person_chooses(page):
    await choose(page, TOWN)
    assert await page.js("document.getElementById('mode').hidden")
    await choose(page, KOREAN, GEORGIAN)
    assert not await page.js("document.getElementById('mode').hidden")
    await page.js("document.getElementById('apart').click(); document.getElementById('depth').value = 'direct'")
    await page.js("document.getElementById('go').click()")
    await page.wait_until(
        "document.querySelectorAll('#case-runs .entry.done, #case-runs .entry.abstained').length == 3"
    )
    shown = await entries(page)
    for entry, place in zip(shown, ("Bellinzona", "Korea", "Georgia"), strict=True):
        assert place in entry
    await page.wait_until("!document.getElementById('go').disabled")
    await page.js("document.querySelector('#case-runs .entry').click()")
    await page.wait_until(ANSWERED + " && document.getElementById('answer-title').innerText.includes('Bellinzona')")


async def within_budget(page, **amounts):
    """Choose a budget in the form, and write what it limits."""
    await page.js("document.getElementById('depth').value = 'budget'")
    await page.js("document.getElementById('depth').dispatchEvent(new Event('change', {bubbles: true}))")
    for name, amount in amounts.items():
        await write(page, f"budget-{name}", amount)


async def test_a_budget_takes_the_place_of_rollouts_and_depth(service, page, monkeypatch):
    asked = []
    gateway = service[1]

    async def start_and_tell(photos, options, **about):
        asked.append(options)
        return await type(gateway).start(gateway, photos, options, **about)

    monkeypatch.setattr(gateway, "start", start_and_tell)
    await choose(page, TOWN)
    assert await page.js("document.getElementById('budget-fields').hidden")
    await within_budget(page, tokens="20000", seconds="60")
    assert await page.js("document.getElementById('rollouts-field').hidden")
    await page.js("document.getElementById('go').click()")
    await page.wait_until(ANSWERED)
    budget = asked[0].budget
    assert (budget.tokens, budget.seconds, budget.money_usd) == (20_000, 60.0, None)
    made = await page.js("document.querySelector('#answer .provenance').textContent")
    assert "of 20000 tokens" in made
    assert "of 60 s" in made
    assert "the budget is 20,000 tokens and 60 s" in await text_of(page, "#notes")


async def test_a_wrong_budget_is_explained_beside_its_field(page):
    await choose(page, TOWN)
    await within_budget(page)
    await page.js("document.getElementById('go').click()")
    wrong = "document.querySelector('#budget-fields .field-wrong')?.innerText"
    assert await page.js(wrong) == "Budget: write at least one of amount of text, seconds and US dollars."
    assert await page.js("document.activeElement.id") == "budget-tokens"
    await write(page, "budget-tokens", "3")
    assert await page.js(wrong) is None
    await page.js("document.getElementById('go').click()")
    assert "Text, tokens: " in await page.js(wrong)
    await page.js("document.getElementById('budget-tokens').min = ''")  # what the service itself refuses
    await page.js("document.getElementById('go').click()")
    await page.wait_until("!document.getElementById('problem').hidden")
    assert "16" in await page.js(wrong)
    assert await page.js("document.getElementById('budget-tokens').getAttribute('aria-invalid')") == "true"
    assert "Budget, amount of text" in await text_of(page, "#problem")
    assert "choose another depth" in await text_of(page, "#problem")
    page.console_errors.clear()  # a refused request is an error in the console


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
async def test_checking_a_claim_is_offered_where_the_page_opens(page, width, height):
    await page.look(width=width, height=height)
    below = "Math.round(document.querySelector('#check summary').getBoundingClientRect().bottom)"
    assert await page.js("scrollY") == 0
    assert 0 < await page.js(below) <= height
    await choose(page, TOWN, KOREAN, GEORGIAN)  # a queue does not push it away
    assert await page.js("scrollY") == 0
    assert 0 < await page.js(below) <= height
    await page.js("document.querySelector('#thumbs li:last-child button').click()")
    await page.js("document.getElementById('apart').click(); document.getElementById('go').click()")
    await page.wait_until(ANSWERED)
    await page.wait_until("!document.getElementById('go').disabled")
    await page.js("document.querySelector('.step-links button').click()")
    assert await page.js("document.activeElement.id") == "again-claim"
    assert await page.js("document.activeElement.getBoundingClientRect().bottom") <= height


async def test_a_case_survives_a_reload_with_everything_that_was_written(page):
    await locate(page, TOWN)
    await page.wait_until("!document.getElementById('go').disabled")
    await page.js("document.querySelector('#case details').open = true")
    for field, text in (("case-title", "Castles"), ("case-notes", "from the archive"), ("case-tags", "ticino, march")):
        await page.js(f"document.getElementById('{field}').focus()")
        await page.ask("Input.insertText", text=text)
    await page.js("document.getElementById('claim-text').focus()")
    await page.ask("Input.insertText", text="taken in Lugano")
    await page.press("Enter", 13, "\r")
    await page.wait_until(
        "document.querySelector('#case-claims li') && document.getElementById('case-status').textContent == 'saved'"
    )
    await page.js("document.querySelector('#case-claims select').value = 'fails';"
                  "document.querySelector('#case-claims select').dispatchEvent(new Event('change'))")  # fmt: skip
    await page.wait_until(
        "document.querySelector('.claim.fails') && document.getElementById('case-status').textContent == 'saved'"
    )
    await page.reload()
    await page.wait_until(ANSWERED)
    assert "Bellinzona" in await text_of(page, "#answer-title")
    values = await page.js("['case-title', 'case-notes', 'case-tags'].map((id) => document.getElementById(id).value)")
    assert values == ["Castles", "from the archive", "ticino, march"]
    assert await page.js("document.querySelector('.claim.fails span').textContent") == "taken in Lugano"
    await page.js("location.hash = '#cases'")
    await page.wait_until("document.querySelectorAll('#cases-list li').length")
    await page.js("document.getElementById('cases-words').focus()")
    await page.ask("Input.insertText", text="castles march")
    await page.wait_until("document.querySelectorAll('#cases-list .case-row').length == 1")
    assert "Bellinzona" in await text_of(page, "#cases-list")


async def test_an_erased_case_is_gone_with_its_photos(service, page):
    _, gateway = service
    await locate(page, TOWN)
    await page.wait_until("!document.getElementById('go').disabled")
    case_id, request_id = (await page.js("location.hash")).removeprefix("#").split("/")
    assert await gateway.store.meta(request_id) is not None
    await page.js("document.getElementById('case-erase').click()")
    assert "everywhere in the service" in await text_of(page, "#case-sure")
    await page.js("document.querySelector('#case-sure button').click()")
    await page.wait_until("location.hash == '#cases' && document.getElementById('case').hidden")
    assert await gateway.store.meta(request_id) is None
    assert await gateway.store.case(case_id) is None


async def test_the_viewer_enlarges_and_turns_a_photo_and_shows_the_text_read_in_it(page):
    await locate(page, TOWN)
    await page.js("document.querySelector('.photo-strip button').click()")
    await page.wait_until("document.getElementById('viewer').open")
    wide = "document.querySelector('#viewer-sheet img').getBoundingClientRect().width"
    before = await page.js(wide)
    await page.press("+", 187, "+")
    assert await page.js(wide) == pytest.approx(1.5 * before, rel=0.01)
    await page.press("r", 82, "r")
    assert "rotate(90deg)" in await page.js("document.querySelector('#viewer-sheet img').style.transform")
    assert await page.js("document.querySelectorAll('.read-box').length") >= 1
    assert "Bellinzona" in await text_of(page, "#viewer-list")
    await page.press("Escape", 27)
    await page.wait_until("!document.getElementById('viewer').open")


async def test_keyboard_shortcuts_open_the_help_and_start_and_cancel_a_request(data_store, tab):
    slow = an_app(ScriptedEngine(turns=3, tokens_per_turn=8, turn_s=30.0))
    async with serving(slow) as (url, _):
        await tab.look()
        await tab.open(url)
        await tab.wait_until("document.getElementById('foot').textContent")
        await tab.press("?", 191, "?")
        assert await tab.js("document.getElementById('keys').open")
        await tab.press("Escape", 27)
        await tab.wait_until("!document.getElementById('keys').open")
        await choose(tab, TOWN)
        await tab.press("Enter", 13, "\r", modifiers=CONTROL)
        await tab.wait_until("document.querySelectorAll('.lane').length")
        await tab.press("Escape", 27)
        await tab.wait_until("document.getElementById('status').textContent == 'Cancelled.'")
        await tab.open("about:blank")


async def test_a_case_is_there_after_a_restart_of_the_service(data_store, tab, tmp_path):
    args = an_app()
    await tab.look()
    async with serving(args, SQLiteRunStore(tmp_path / "runs.sqlite", 60)) as (url, _):
        await tab.open(url)
        await tab.wait_until("document.getElementById('foot').textContent")
        await locate(tab, TOWN)
        await tab.wait_until("!document.getElementById('go').disabled")
        address = await tab.js("location.hash")
        await tab.open("about:blank")
    async with serving(args, SQLiteRunStore(tmp_path / "runs.sqlite", 60)) as (url, _):
        await tab.open(url + "/" + address)
        await tab.wait_until(ANSWERED)
        assert "Paris" in await text_of(tab, "#answer-title")
        await tab.open("about:blank")


async def test_a_reloaded_page_shows_the_request_that_is_still_running(data_store, tab):
    async with serving(an_app(ScriptedEngine(turns=3, tokens_per_turn=8, turn_s=1.0))) as (url, gateway):
        await tab.look()
        await tab.open(url)
        await tab.wait_until("document.getElementById('foot').textContent")
        await choose(tab, TOWN)
        await tab.js("document.getElementById('depth').value = 'deep'; document.getElementById('go').click()")
        await tab.wait_until("document.querySelectorAll('.lane').length && location.hash.includes('/loc_')")
        await tab.reload()
        await tab.wait_until(ANSWERED)
        assert "Paris" in await text_of(tab, "#answer-title")
        assert gateway.in_flight == 0
        await tab.open("about:blank")


async def test_a_person_who_leaves_the_page_finds_the_answer_in_the_case_later(data_store, tab, monkeypatch):
    async with serving(an_app(ScriptedEngine(turns=3, tokens_per_turn=8, turn_s=1.0))) as (url, gateway):
        asked = []

        async def start_and_tell(photos, options, **about):
            asked.append(options)
            return await type(gateway).start(gateway, photos, options, **about)

        monkeypatch.setattr(gateway, "start", start_and_tell)
        await tab.look()
        await tab.open(url)
        await tab.wait_until("document.getElementById('foot').textContent")
        await choose(tab, TOWN)
        await tab.js("document.getElementById('go').click()")
        await tab.wait_until("document.querySelectorAll('.lane').length && location.hash.includes('/loc_')")
        address = await tab.js("location.hash")
        await tab.open("about:blank")
        await idle(gateway)
        assert asked[0].resume_grace_s == LONGEST_S
        run = await gateway.current_run(address.partition("/")[2])
        assert run.answer is not None
        assert run.answer.country == "France"
        await tab.open(url + "/" + address)
        await tab.wait_until(ANSWERED)
        await tab.open("about:blank")


async def test_the_page_has_no_accessibility_violation_in_any_state(page, axe, tmp_path):
    found = await violations(page, axe)  # nothing chosen yet
    await choose(page, TOWN, KOREAN)
    found |= await violations(page, axe)
    await page.js("document.querySelector('#thumbs li:last-child button').click()")
    await page.js("document.getElementById('depth').value = 'deep'; document.getElementById('go').click()")
    await page.wait_until(ANSWERED)
    await page.wait_until("document.querySelectorAll('.leaflet-tile-loaded').length > 3")
    await page.js("for (const one of document.querySelectorAll('details')) one.open = true")
    found |= await violations(page, axe)
    await page.js("document.querySelector('.photo-strip button').click()")
    found |= await violations(page, axe)
    await page.js("document.getElementById('viewer').close(); document.getElementById('help').click()")
    found |= await violations(page, axe)
    await page.js("document.getElementById('keys').close(); location.hash = '#cases'")
    await page.wait_until("document.querySelectorAll('#cases-list li').length")
    found |= await violations(page, axe)
    await page.js("location.hash = ''")
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"this is no photo" * 20)
    await page.js("document.querySelector('#thumbs li button').click()")
    await choose(page, broken)
    await page.js("document.getElementById('go').click()")
    await page.wait_until("!document.getElementById('problem').hidden")
    found |= await violations(page, axe)
    await page.js("document.querySelector('#thumbs li button').click()")
    await choose(page, TOWN)
    await within_budget(page)
    await page.js("document.getElementById('go').click()")
    found |= await violations(page, axe)
    page.console_errors.clear()  # a refused photo is an error in the console
    assert found == set()


async def test_a_case_without_a_title_is_named_by_the_places_found_in_it(page):
    await locate(page, TOWN)
    await page.wait_until("!document.getElementById('go').disabled")
    assert (await entries(page))[0].startswith("town-sign-latin.jpg")
    await page.wait_until("document.getElementById('case-title').placeholder.includes('Bellinzona')")
    await page.js("location.hash = '#cases'")
    await page.wait_until("document.querySelectorAll('#cases-list li').length")
    assert "Bellinzona" in await text_of(page, "#cases-list li a")
    assert "Untitled" not in await text_of(page, "#cases-list li")


async def test_rollouts_stopped_early_are_listed_in_the_section_on_how_the_answer_was_made(service, page):
    await locate(page, TOWN, depth="deep")
    undone = await page.js("""(async () => {
      const { showAnswer } = await import(new URL('web/answer.js', document.baseURI));
      const id = location.hash.split('/')[1];
      const { answer } = await (await fetch('locate/' + id)).json();
      answer.undone = ['rollout 0 stopped early, after 0 turns: the others already agreed',
        'rollout 1 failed after 2 turns'];
      const live = { pictures: { request: id }, lanes: new Map(), left: null, laneOf: () => null,
        placesOf: () => [], photos: [], map: {}, viewer: {} };
      showAnswer(answer, live, {}, []);
      const made = document.querySelector('.provenance');
      const inside = made.textContent.includes('stopped early');
      made.remove();
      const rest = document.getElementById('answer').textContent;
      return [inside, rest.includes('stopped early'), rest.includes('Attempt 1 failed after 2 turns.')];
    })()""")
    assert undone == [True, False, True]
