"""The page at `/` in a real browser, against a real service: a photo goes in, lanes and an answer come out."""

import asyncio
import io
import json
import re
from contextlib import asynccontextmanager
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from support.basics import sign_bytes
from support.chromium import CHROMIUM, MISSING, chromium
from support.dialect_rollouts import Web
from support.made_answers import EVIL
from support.ports import free_port
from support.provider_server import answer_with_samples, config_for
from support.rude_server import rude_server
from support.service import an_app, idle, ports_of, serving

from deployments.config import AccessConfig, AppArgs
from deployments.config.cases import CasesConfig
from deployments.gateway.auth import fingerprint
from deployments.wiring.local import local_ports, local_tools
from deployments.wiring.rollouts import LocalRollouts
from tools.web import web_search_tool
from tts.config import OpenAIEngine, RegionSearchConfig, RoutingConfig, ScriptedEngine, ToolsConfig
from tts.domain.geo import Countries
from tts.geodata.maps.palette import PALETTES
from tts.inference.scripted.engine import ScriptedCall, ScriptedModel, ScriptedTurn
from tts.package_files import SAMPLES
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
SAMPLE = SAMPLES / "town-sign-latin.jpg"
SLOW = ScriptedEngine(turns=3, tokens_per_turn=8, turn_s=30.0)
ANSWERED = "!document.getElementById('answer').hidden"
FAILED = "!document.getElementById('problem').hidden"


@pytest.fixture
async def tab(tmp_path):
    async with chromium(tmp_path / "profile") as browser:
        tab = await browser.tab()
        await tab.look()
        yield tab


async def start(tab, url, *files, **fields):
    await tab.open(url)
    await tab.choose("#photos", *(files or (SAMPLE,)))
    await tab.wait_until("document.querySelectorAll('#thumbs li').length")
    for name, value in {"depth": "deep", "rollouts": 2, **fields}.items():
        await tab.js(f"document.getElementById('{name}').value = {json.dumps(value)}")
    await tab.js("document.getElementById('go').click()")


async def text_of(tab, selector):
    return await tab.js(f"document.querySelector('{selector}').innerText")


async def test_the_page_warns_of_photos_of_two_places_above_everything_else(data_store, tab):
    async with serving(AppArgs()) as (url, _):
        await start(tab, url, SAMPLE, SAMPLE.with_name("station-chinese.jpg"))
        await tab.wait_until(ANSWERED)
        first = await tab.js("document.getElementById('answer').firstElementChild.innerText")
        assert first.startswith(
            "These photos cannot be of the same place: photo 1 says Bellinzona (Switzerland), photo 2"
        )
        assert await text_of(tab, "#answer-title") == "These photos do not fit one place"
        rows = await text_of(tab, ".each-photo")
        assert "Photo 1: Bellinzona" in rows
        assert "Photo 2: Zaozhuang" in rows


async def test_the_page_warns_of_a_contradicted_area_above_everything_else(data_store, tab):
    async with serving(AppArgs()) as (url, _):
        await start(tab, url, within="Ukraine")
        await tab.wait_until(ANSWERED)
        first = await tab.js("document.getElementById('answer').firstElementChild.innerText")
        assert first == "The photo says Bellinzona (Switzerland), outside the area you gave (Ukraine)."
        assert await text_of(tab, "#answer-title") == "The photo does not fit the area you gave"
        assert "outside the area you gave" in await text_of(tab, ".candidates")


async def test_the_page_says_that_a_weak_word_does_not_rule_out_the_given_area(data_store, tab):
    async with serving(AppArgs()) as (url, _):
        await start(tab, url, SAMPLE.with_name("pharmacy-korean.jpg"), within="bbox:36,6,47,19")
        await tab.wait_until(ANSWERED)
        assert await text_of(tab, "#answer-title") == "It is not known where this is"
        text = await text_of(tab, "#answer")
        assert "too weak to rule that area out" in text
        assert "The best place outside it is listed under Candidates." in text
        assert "outside the area you gave" in await text_of(tab, ".candidates")


async def test_the_answer_says_whether_the_photo_agrees_with_the_hint(data_store, tab):
    async with serving(AppArgs()) as (url, _):
        await tab.open(url)
        await tab.choose("#photos", SAMPLE)
        await tab.wait_until("document.querySelectorAll('#thumbs li').length")
        await tab.js("document.getElementById('hint').focus()")
        await tab.ask("Input.insertText", text="Ticino")
        await tab.js("document.getElementById('go').click()")
        await tab.wait_until(ANSWERED)
        assert "Bellinzona" in await text_of(tab, "#answer-title")
        text = await text_of(tab, "#answer")
        assert "What was read in the photo agrees with your hint: Ticino (Switzerland)." in text
        assert "the caller says Ticino (Switzerland)" in await text_of(tab, "#answer .evidence")
        known = await tab.js(
            "[...document.querySelectorAll('.facts div')].map((fact) => fact.innerText.split('\\n'))"
            ".find((fact) => fact[0] === 'Precision')[1]"
        )
        assert known == "the town"  # a sign with the town's name says no more, however small the radius is


async def test_the_page_sends_a_photo_and_shows_its_answer(data_store, tab):
    async with serving(an_app()) as (url, gateway):
        await start(tab, url, rollouts=3)
        await tab.wait_until(ANSWERED)
        await tab.wait_until("document.querySelectorAll('.leaflet-tile-loaded').length")
        text = await text_of(tab, "#answer")
        assert "Paris" in text
        for part in (
            "What left this machine: nothing.",
            "Radius",
            "the radius is an estimate: it was fitted to answers of other engines",
            "Candidates",
            "Evidence",
        ):
            assert part in text
        assert "90 %" not in text  # no likelihood that was not fitted to this engine
        assert await tab.js("[...document.querySelectorAll('.lane h3')].map((title) => title.textContent)") == [
            f"Attempt {number}" for number in range(3)
        ]
        assert "poi_keyword_search" in await text_of(tab, "#lanes")
        assert await tab.js("document.querySelectorAll('.call.ok').length") == 3
        assert await tab.js("document.activeElement.id") == "answer-title"
        point = await tab.js("document.querySelector('.point').textContent")
        assert 48 < float(point.split(",")[0]) < 50
        await idle(gateway)
        assert tab.console_errors == []


@pytest.mark.parametrize(("wanted_km", "percentages"), [("25", 0), ("0.05", 1)])
async def test_the_page_shows_the_confidence_only_if_the_fitted_radii_do_not_state_it(
    data_store, tab, wanted_km, percentages
):
    """The confidence is for the wanted radius: it is shown only where the radii do not say as much."""
    async with serving(AppArgs()) as (url, _):
        await start(tab, url, radius=wanted_km)
        await tab.wait_until(ANSWERED)
        await tab.wait_until("Boolean(document.querySelector('#answer .circles'))")
        text = await text_of(tab, "#answer")
        for part in ("Radius", "very probably within", "dashed circle: very probably"):
            assert part in text
        assert text.count("%") == percentages
        assert ("Confidence" in text) == bool(percentages)


async def test_a_radius_wider_than_a_continent_is_shown_in_words(data_store, tab, tmp_path):
    bakery = tmp_path / "bakery.jpg"
    bakery.write_bytes(sign_bytes("PADARIA", "PÃO QUENTE"))
    async with serving(AppArgs()) as (url, _):
        await start(tab, url, bakery)
        await tab.wait_until(ANSWERED)
        assert await text_of(tab, "#answer-title") == "Perhaps Portugal"
        assert "it may also be on another continent" in await text_of(tab, "#answer .facts")
        areas = "areas: it is probably inside one of them; it may also be on another continent"
        await tab.wait_until("document.querySelectorAll('#map .region.firm').length == 1")
        assert areas in await text_of(tab, "#answer .circles")
        assert await tab.js("document.querySelectorAll('#map .region').length") == 1
        assert "it may also be on another continent" in await text_of(tab, "#answer .candidates")


async def test_words_of_tools_and_models_are_shown_as_text_not_as_markup(data_store, tab):
    class EvilWeb(Web):
        async def search(self, query, *, limit, context):
            found = await super().search(query, limit=limit, context=context)
            return [fact.model_copy(update={"title": EVIL, "snippet": EVIL}) for fact in found]

    answer = {"lat": 48.85, "lon": 2.35, "city": EVIL, "evidence": [{"claim": EVIL, "quote": EVIL}]}
    call = ScriptedCall(name="web_search", arguments={"query": EVIL})
    turns = (ScriptedTurn(text=EVIL, calls=(call,)), ScriptedTurn(turn=1, text=json.dumps(answer)))
    args = an_app()
    model = ScriptedModel(ScriptedEngine(), turns)
    rollouts = LocalRollouts(model, Broker([web_search_tool(EvilWeb())], MemoryStore()), args)
    async with serving(args, ports=replace(ports_of(args), rollouts=rollouts)) as (url, _):
        await start(tab, url, rollouts=1)
        await tab.wait_until(ANSWERED)
        result = await tab.js("document.querySelector('.call pre').textContent")
        assert "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>" in result
        assert "\u202e" not in await tab.js("document.body.textContent")
        assert await tab.js("document.querySelectorAll('#run script, #run img, #answer script').length") == 0
        assert "<script>" in await text_of(tab, "#answer")
        assert not await tab.js(
            "[...document.querySelectorAll('#answer a')].some((a) => /^javascript|evil/.test(a.href))"
        )
        assert tab.console_errors == []


async def test_a_string_can_not_become_markup(data_store, tab):
    async with serving(an_app()) as (url, _):
        await tab.open(url)
        tried = (
            "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'made'; } catch (e) { return e.name; } })()"
        )
        assert await tab.js(tried) == "TypeError"


async def test_an_error_is_shown_with_what_to_do(data_store, tab, tmp_path):
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"this is no photo" * 20)
    async with serving(an_app()) as (url, _):
        await start(tab, url, broken)
        await tab.wait_until(FAILED)
        text = await text_of(tab, "#problem")
        assert "This photo cannot be used" in text
        assert "What to do:" in text
        assert "415" in text
        await start(tab, url)
        await tab.wait_until(ANSWERED)


async def test_a_model_that_cannot_be_asked_is_no_abstention(data_store, tab):
    endpoint = f"http://127.0.0.1:{free_port()}/v1"
    engine = OpenAIEngine(base_url=endpoint, model="m", retries=0, backoff_s=0.01)
    args = AppArgs(engine=engine, routing=RoutingConfig(method="fixed"))
    async with serving(args, ports=local_ports(args)) as (url, _):
        await start(tab, url)
        await tab.wait_until(FAILED)
        text = await text_of(tab, "#problem")
        for words in ("The photo could not be looked at", endpoint, "start the endpoint", "What to do", "503"):
            assert words in text
        assert await tab.js("document.getElementById('answer').hidden")


async def test_more_options_go_with_the_request(data_store, tab, monkeypatch):
    more = {"within": "Italy, FR", "deadline": 60, "seed": 7, "hint": "by the sea"}
    async with serving(an_app()) as (url, gateway):
        asked = []

        async def start_and_tell(photos, options, **about):
            asked.append(options)
            return await type(gateway).start(gateway, photos, options, **about)

        monkeypatch.setattr(gateway, "start", start_and_tell)
        await tab.open(url)
        await tab.js("for (const id of ['exif', 'hosts']) document.getElementById(id).checked = true")
        await tab.choose("#photos", SAMPLE)
        await tab.wait_until("document.querySelectorAll('#thumbs li').length")
        for name, value in more.items():
            await tab.js(f"document.getElementById('{name}').value = {json.dumps(value)}")
        await tab.js("document.getElementById('go').click()")
        await tab.wait_until(ANSWERED)
        (options,) = asked
        assert options.within == Countries(codes=("IT", "FR"))
        assert (options.deadline_s, options.seed, options.hint) == (60, 7, "by the sea")
        assert (options.exif, options.hide_photo_hosts) == ("report", True)


async def test_an_error_in_a_folded_option_moves_the_focus_to_this_option(data_store, tab):
    async with serving(an_app()) as (url, gateway):
        await start(tab, url, seed=-1)
        assert "Start number" in await text_of(tab, "#error-message")
        assert await tab.js("document.activeElement.id") == "seed"
        assert gateway.in_flight == 0
        await start(tab, url, within="Atlantis")
        await tab.wait_until(FAILED)
        assert "'Atlantis' is no country I know" in await text_of(tab, "#problem")
        assert "Use countries by name or code (Italy, FR), or a circle" in await text_of(tab, "#problem")


async def test_the_page_sends_nothing_without_a_photo(data_store, tab):
    async with serving(an_app()) as (url, gateway):
        await tab.open(url)
        await tab.js("document.getElementById('go').click()")
        assert await text_of(tab, "#error-message") == "Choose a photo first."
        assert gateway.in_flight == 0


async def test_an_api_key_is_asked_for_and_kept_in_the_tab(data_store, tab, tmp_path):
    (tmp_path / "keys").write_text(f"desk {fingerprint('gt_desk')}\n")
    access = AccessConfig(mode="keys", keys_file=str(tmp_path / "keys"))
    async with serving(an_app(access=access)) as (url, _):
        await start(tab, url)
        await tab.wait_until(FAILED)
        assert "An API key is needed" in await text_of(tab, "#problem")
        await tab.js("document.getElementById('key').value = 'gt_desk'")
        await tab.js("document.getElementById('key').dispatchEvent(new Event('change'))")
        await tab.js("document.getElementById('go').click()")
        await tab.wait_until(ANSWERED)
        await tab.wait_until("document.querySelector('.photo').naturalWidth > 100")
        await tab.open(url)
        assert await tab.js("document.getElementById('key').value") == "gt_desk"
        assert await tab.js("Object.keys(localStorage).length") == 0


async def test_the_page_shows_an_abstention_plainly(data_store, tab, tmp_path):
    tape = tmp_path / "tape.jsonl"
    tape.write_text('{"text": "{\\"lat\\": null, \\"lon\\": null, \\"country\\": \\"\\"}"}\n')
    async with serving(an_app(ScriptedEngine(tape=str(tape)))) as (url, _):
        await start(tab, url)
        await tab.wait_until(ANSWERED)
        assert "It is not known where this is" in await text_of(tab, "#answer")
        assert await tab.js("document.querySelectorAll('#answer #map, #answer .point').length") == 0
        assert await tab.js("document.getElementById('map').hidden")
        assert tab.console_errors == []


async def test_the_page_shows_the_plan_in_one_sentence_before_the_answer(data_store, tab):
    async with serving(an_app(SLOW)) as (url, _):
        await start(tab, url, rollouts=2)
        await tab.wait_until("document.getElementById('notes').textContent.includes('Plan: ')")
        assert (await text_of(tab, "#notes")).startswith(
            "Plan: 2 attempts of one model with tools: the caller asked for it."
        )
        assert await tab.js("document.getElementById('answer').hidden")


async def test_cancel_stops_the_work(data_store, tab):
    async with serving(an_app(SLOW)) as (url, gateway):
        await start(tab, url)
        await tab.wait_until("document.querySelectorAll('.lane').length == 2")
        assert gateway.in_flight == 1
        await tab.js("document.getElementById('stop').click()")
        await tab.wait_until("document.getElementById('status').textContent == 'Cancelled.'")
        await idle(gateway)
        assert await tab.js("document.getElementById('go').disabled") is False
        assert tab.console_errors == []


async def test_cancelling_with_the_keyboard_moves_the_focus_to_the_start_button(data_store, tab):
    async with serving(an_app(SLOW)) as (url, gateway):
        await start(tab, url)
        await tab.wait_until("document.querySelectorAll('.lane').length == 2")
        assert await tab.js("document.activeElement.id") == "stop"
        await tab.press("Enter", 13, "\r")
        await tab.wait_until("document.getElementById('status').textContent == 'Cancelled.'")
        await tab.wait_until("document.getElementById('stop').hidden")
        assert await tab.js("document.activeElement.id") == "go"
        await idle(gateway)


async def test_leaving_the_page_stops_the_work(data_store, tab):
    without_cases = an_app(SLOW).model_copy(update={"cases": CasesConfig(retention_days=0)})
    async with serving(without_cases) as (url, gateway):  # with cases it goes on for 15 s, for a reload
        await start(tab, url)
        await tab.wait_until("document.querySelectorAll('.lane').length == 2")
        await tab.open("about:blank")
        await idle(gateway)  # waits 20 s; without readers alone it would go on for 30


@pytest.mark.parametrize(("after_bytes", "posts", "resumed"), [(0, 2, 0), (3000, 1, 1)])
async def test_a_cut_stream_is_taken_up_again(data_store, tab, after_bytes, posts, resumed):
    async with serving(an_app(ScriptedEngine(turns=3, tokens_per_turn=8, turn_s=0.8))) as (url, gateway):
        async with cutting(url, after_bytes=after_bytes) as (through, asked):
            await start(tab, through)
            await tab.wait_until(ANSWERED)
        assert sum(request.startswith(b"POST /locate ") for request in asked) == posts
        after = [int(found[1]) for request in asked if (found := re.search(rb"(?i)last-event-id: (\d+)", request))]
        assert len(after) == resumed
        assert all(after)
        assert await tab.js("document.querySelectorAll('.call.ok').length") == 4
        assert await tab.js("document.querySelectorAll('.badge.good').length") == 2
        await idle(gateway)


@asynccontextmanager
async def cutting(url, *, after_bytes):
    """A way to the service that breaks off the first reply to `POST /locate`; what was asked for on it."""
    host, port = url.removeprefix("http://").split(":")
    asked: list[bytes] = []
    writers: list[asyncio.StreamWriter] = []

    async def relay(reader, writer):
        there_reader, there_writer = await asyncio.open_connection(host, int(port))
        writers.extend((writer, there_writer))
        remaining = None  # bytes until the cut

        async def onwards():
            nonlocal remaining
            while data := await reader.read(65536):
                if data.startswith((b"GET ", b"POST ", b"DELETE ")):
                    asked.append(data)
                    posts = [request for request in asked if request.startswith(b"POST /locate ")]
                    remaining = after_bytes if len(posts) == 1 and posts[0] is data else None
                there_writer.write(data)
            there_writer.close()

        async def back():
            nonlocal remaining
            while data := await there_reader.read(400):
                if remaining is not None:
                    remaining -= len(data)
                    if remaining <= 0:
                        break
                writer.write(data)
            writer.close()
            there_writer.close()

        await asyncio.gather(onwards(), back(), return_exceptions=True)

    server = await asyncio.start_server(relay, "127.0.0.1")
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()
        for writer in writers:
            writer.close()
        await asyncio.sleep(0.05)  # the relays see it


@pytest.mark.parametrize(("dark", "background"), [(False, (251, 250, 247)), (True, (20, 23, 28))])
async def test_the_page_fits_a_narrow_screen_in_light_and_dark(data_store, tab, dark, background):
    await tab.look(dark=dark, width=400, height=800)
    async with serving(an_app()) as (url, _):
        await start(tab, url)
        await tab.wait_until(ANSWERED)
        assert await tab.js("document.documentElement.scrollWidth") == 400
        await tab.wait_until("document.querySelectorAll('.leaflet-tile-loaded').length")
        sources = await tab.js("""(() => {
            const line = document.getElementById('map-sources');
            const px = parseFloat(getComputedStyle(line).fontSize);
            return { text: line.innerText, px, wide: line.getBoundingClientRect().right };
        })()""")
        assert sources["text"] == f"map: {PALETTES['map'].sources}"
        assert sources["px"] >= 11
        assert sources["wide"] <= 400
        with Image.open(io.BytesIO(await tab.picture())) as shot:
            pixels = np.asarray(shot.convert("RGB"))
        assert np.allclose(pixels[400, 3], background, atol=3)
        assert pixels.reshape(-1, 3).std(axis=0).min() > 10


async def test_the_page_works_by_keyboard_and_every_control_has_a_name(data_store, tab):
    async with serving(an_app()) as (url, _):
        await tab.open(url)
        await tab.choose("#photos", SAMPLE)
        visited = []
        for _ in range(20):
            await tab.press("Tab", 9)
            visited.append(await tab.js("document.activeElement.id || document.activeElement.textContent"))
            if visited[-1] == "go":
                break
        assert [step for step in visited if step in ("photos", "depth", "rollouts", "radius", "hint", "go")] == [
            "photos", "depth", "rollouts", "radius", "hint", "go",
        ]  # fmt: skip
        await tab.press("Enter", 13, "\r")
        await tab.wait_until(ANSWERED)
        tree = (await tab.ask("Accessibility.getFullAXTree"))["nodes"]
        roles = ("button", "link", "textbox", "spinbutton", "combobox", "meter", "image", "heading", "article")
        named = [
            (node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in tree
            if not node.get("ignored") and node.get("role", {}).get("value") in roles
        ]
        assert len(named) > 12
        assert [role for role, name in named if not name.strip()] == []


SHOWS_REGIONS = "!document.getElementById('regions-field').hidden"


def app_that_searches(folder, *, allowed):
    """A service whose one rollout asks for a search by picture, and which names Google's for it."""
    calls = [{"name": "image_search", "arguments": {"bbox": [0, 0, 1, 1]}}]
    turns = [
        {"rollout": 0, "turn": 0, "text": "looking", "calls": calls},
        {"rollout": 0, "turn": 1, "text": '{"lat": 48.86, "lon": 2.34, "country": "France"}'},
    ]
    (folder / "script.jsonl").write_text("\n".join(map(json.dumps, turns)))
    return an_app(ScriptedEngine(tape=str(folder / "script.jsonl"))), RegionSearchConfig(allowed=allowed)


async def test_the_page_asks_for_no_consent_if_no_region_may_be_sent(data_store, tab, tmp_path):
    args, regions = app_that_searches(tmp_path, allowed=False)
    tools = ToolsConfig(providers=("google_vision", "offline"), region_search=regions)
    async with serving(args.model_copy(update={"tools": tools})) as (url, _):
        await tab.open(url)
        await tab.wait_until("document.getElementById('foot').textContent")  # the index has been read
        assert not await tab.js(SHOWS_REGIONS)
        assert await text_of(tab, "#regions-note") == ""


async def test_consent_to_region_search_is_off_says_who_gets_what_and_is_sent_when_ticked(
    data_store, tab, tmp_path, monkeypatch
):
    monkeypatch.setenv("GOOGLE_VISION_API_KEY", "vision-key-of-this-test")
    args, regions = app_that_searches(tmp_path, allowed=True)
    async with rude_server(answer_with_samples("google_vision")) as there:
        tools = config_for(there, "google_vision", "offline", region_search=regions)
        args = args.model_copy(update={"tools": tools})
        async with serving(args, tools=local_tools(args)) as (url, _):
            await start(tab, url, rollouts=1)
            await tab.wait_until(ANSWERED)
            assert there.seen == []  # nobody ticked it
            await tab.wait_until(SHOWS_REGIONS)
            text = await text_of(tab, "#regions-field")
            assert "parts of your photo, up to all of it, may be sent from this service" in text
            assert "Google Cloud Vision (127.0.0.1)" in text
            assert "nothing in them is blurred" in text
            assert await tab.js("document.getElementById('regions').checked") is False
            await tab.js("document.getElementById('regions').click()")
            await tab.js("document.getElementById('go').click()")
            async with asyncio.timeout(60):  # the first answer is hidden for too short a time to be waited for
                while not there.seen:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            await tab.wait_until(ANSWERED)
            assert [seen.path for seen in there.seen] == ["/v1/images:annotate"]
            assert await tab.js("document.getElementById('regions').checked") is False  # for one request only
            assert tab.console_errors == []
