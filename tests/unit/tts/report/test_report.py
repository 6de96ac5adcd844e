"""The report: everything in it is escaped, it asks nothing of the network, and it says what the run says."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_answers import EVIL, an_answer

from tts.domain.answer import Radius, RunCount, StopReason
from tts.domain.geo import LatLon, destination
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.trajectory import Run, Trajectory, Turn
from tts.domain.usage import ModelUsage, Usage
from tts.errors import GeoTTSError
from tts.geodata.maps.furniture import Pin
from tts.report.answer_map import answer_map, answer_view, overview_map
from tts.report.html_report import report_page
from tts.report.markup import el, link, page
from tts.verify.consensus.answer_regions import RegionRule, regions_of
from tts.verify.consensus.peaks import Peak


def a_run(text: str = "Bellinzona", **update) -> Run:
    call = ToolCall(id="c1", name="geocode", arguments={"address": text})
    turn = Turn(index=0, text=text, calls=(call,), results=(ToolResult(call_id="c1", name="geocode", text=text),))
    belief = Hypothesis(point=LatLon(lat=46.2, lon=9.0), city=text)
    done = Trajectory(rollout_id=0, turns=(turn,), stop_reason=StopReason.ANSWERED, answer=belief)
    broken = Trajectory(rollout_id=1, stop_reason=StopReason.FAILED, error=text)
    return Run(answer=an_answer(text, **update), rollouts={0: done, 1: broken})


class _Document(HTMLParser):
    """Collects tags and attributes, and checks that every element is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("img", "meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)


def parse_page(document: str) -> _Document:
    reader = _Document()
    reader.feed(document)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def evil(cartographer, blank_photo):
    return parse_page(report_page(a_run(EVIL), cartographer, blank_photo, title=EVIL))


def test_text_of_photos_models_and_tools_does_not_become_markup(evil):
    names = {tag for tag, _ in evil.tags}
    assert not names & {"script", "iframe", "object", "link", "form", "svg", "base"}
    assert not [key for _, attributes in evil.tags for key in attributes if key.startswith("on")]
    assert "alert(1)" in "".join(evil.text)
    assert "\u202e" not in "".join(evil.text)


def test_the_report_loads_nothing_from_the_network(evil):
    sources = [attributes["src"] for tag, attributes in evil.tags if tag == "img"]
    assert len(sources) == 3
    assert all(source.startswith("data:image/jpeg;base64,") for source in sources)
    policies = [a["content"] for tag, a in evil.tags if tag == "meta" and a.get("http-equiv")]
    assert "default-src 'none'" in policies[0]


def test_links_lead_to_web_pages_only(evil):
    targets = [attributes["href"] for tag, attributes in evil.tags if tag == "a"]
    assert {re.match(r"\w+", target).group() for target in targets} == {"https"}
    assert "javascript:alert(3)" in evil.text


def test_the_stylesheet_loads_nothing(cartographer):
    style = re.search(r"<style>(.*?)</style>", report_page(a_run(), cartographer), re.DOTALL).group(1)
    assert not re.search(r"url\(|@import|@font-face|</", style)
    assert "prefers-color-scheme: dark" in style


def test_the_report_shows_the_values_of_the_run_in_plain_words(cartographer, sign_photo):
    page_text = " ".join(parse_page(report_page(a_run(), cartographer, sign_photo)).text)
    for part in ("46.19278, 9.01703", "probably within 2.0 km", "very probably within 40 km",
                 "geocode", "2026-01-01T00:00:00Z", "Milan", "3 answered", "GeoTTS 9.9",
                 "stated, not confirmed by a tool", "Attempt 0: ", "(answered; 1 step, 1 tool call)", "Step 1",
                 "(failed; 0 steps, 0 tool calls)", "attempt 0", "The attempts came to their end.", "start number",
                 "The metadata of the file says 1.00000, 2.00000, 5,100 km from this answer"):  # fmt: skip
        assert part in page_text
    assert not re.search(r"rollout|verifier|dialect|\bseed\b|\bturns?\b", page_text, re.IGNORECASE)


def test_the_report_says_what_each_model_of_a_mixture_used(cartographer):
    used = Usage(turns=3, tool_calls=2, prompt_tokens=1200, completion_tokens=80, cost_usd=0.02)
    count = RunCount(asked=4, planned=4, run=4, answered=3, models=2)
    run = a_run(usage_by_model=(ModelUsage(model="large", rollouts=2, usage=used),), n=count)
    page_text = " ".join(parse_page(report_page(run, cartographer)).text)
    assert "4 planned, 4 of 2 models started, 3 answered" in page_text
    assert "cost of large 2 attempts, 3 steps, 2 tool calls, 1,200 + 80 tokens, $0.0200" in page_text


@pytest.mark.parametrize(("target_km", "shown"), [(1.0, True), (25.0, False), (100.0, False)])
def test_a_percentage_is_shown_only_for_a_target_below_the_smaller_radius(cartographer, target_km, shown):
    page_text = " ".join(parse_page(report_page(a_run(target_radius_km=target_km), cartographer)).text)
    assert "open this point on openstreetmap.org" in page_text
    assert ("70% sure that the true place is within 1.0 km" in page_text) is shown
    assert ("sure that the true place" in page_text) is shown


def test_an_abstention_has_a_report_too(cartographer):
    coarse = a_run(lat=None, lon=None, radius_km=None, abstained=True, city="", region="", level=Level.COUNTRY)
    document = parse_page(report_page(coarse, cartographer))
    assert "The evidence only supports Switzerland." in document.text
    assert not [tag for tag, _ in document.tags if tag == "img"]


def test_a_run_without_an_answer_has_no_report(cartographer):
    with pytest.raises(GeoTTSError):
        report_page(Run(), cartographer)


def test_the_answer_map_shows_both_circles_and_nearby_candidates(cartographer):
    picture = answer_map(cartographer, an_answer())
    assert picture.size == (640, 480)
    assert overview_map(cartographer, an_answer()).size == (220, 220)
    everywhere = an_answer(radius_km=Radius(p50=3000, p90=9000))
    assert answer_map(cartographer, everywhere) is not None
    assert overview_map(cartographer, everywhere) is None


@pytest.mark.parametrize(("lat", "lon"), [(-17.8, 179.9), (89.9, 0), (-89.9, 50), (0, 0)])
@pytest.mark.parametrize("km", [0.2, 700.0, 9000.0])
def test_answers_anywhere_have_a_map(cartographer, lat, lon, km):
    answer = an_answer(lat=lat, lon=lon, radius_km=Radius(p50=km / 3, p90=km), candidates=())
    assert answer_map(cartographer, answer).size == (640, 480)


@pytest.mark.parametrize(("lat", "lon"), [(46.19, 9.02), (-17.8, 179.9), (80.0, 0)])
def test_the_answer_map_shows_regions_instead_of_circles(cartographer, lat, lon):
    plain = an_answer(lat=lat, lon=lon, radius_km=Radius(p50=50, p90=400), candidates=())
    peaks = [Peak(plain.point, 0.6), Peak(destination(plain.point, bearing_deg=80, distance_km=300), 0.4)]
    regions = regions_of(peaks, 400.0, RegionRule(origin="made", scale_50=0.2, scale_90=0.5, cases=40))
    answer = plain.model_copy(update={"region_50": regions.region_50, "region_90": regions.region_90})
    circled, drawn = (np.asarray(answer_map(cartographer, one)).astype(int) for one in (plain, answer))
    view = answer_view(answer, answer.point, answer.radius_km)
    x, y = (round(value) for value in view.pixel(peaks[1].point))
    reddened = np.asarray(cartographer.draw(view, pins=(Pin(answer.point),))).astype(int) - drawn
    assert reddened[y + 3, x + 3, 1] > 10  # the other peak lies in an area
    between = destination(plain.point, bearing_deg=260, distance_km=300)  # the circle would hold it
    x, y = (round(value) for value in view.pixel(between))
    assert abs(reddened[y, x]).sum() == 0
    assert circled.shape == drawn.shape


def test_a_region_wider_than_a_continent_is_not_drawn_but_the_smaller_one_is(cartographer):
    plain = an_answer(lat=52.48, lon=-1.9, radius_km=Radius(p50=5, p90=9000), candidates=())
    peaks = [Peak(plain.point, 0.6), Peak(LatLon(lat=33.52, lon=-86.8), 0.4)]
    regions = regions_of(peaks, 9000.0, RegionRule(origin="made", scale_50=0.1, scale_90=0.5, cases=40))
    answer = plain.model_copy(update={"region_50": regions.region_50, "region_90": regions.region_90})
    view = answer_view(answer, answer.point, answer.radius_km)
    drawn = np.asarray(answer_map(cartographer, answer)).astype(int)
    changed = np.abs(np.asarray(cartographer.draw(view, pins=(Pin(answer.point),))).astype(int) - drawn).sum(axis=2)
    x, y = (round(value) for value in view.pixel(peaks[1].point))
    assert changed[y + 3, x + 3] > 10
    assert changed[240, 470] == 0  # in the 90 % region, in no disc of the 50 % region
    assert "areas: it is probably inside one of them; it may also be" in str(
        report_page(Run(answer=answer), cartographer, None)
    )


@given(st.text(), st.text())
def test_any_text_survives_as_text(text, attribute):
    document = parse_page(page("t", "", el("p", text, title=attribute)))
    assert [tag for tag, _ in document.tags[-2:]] == ["body", "p"]
    assert all(char.isprintable() or char in "\n\t" for char in "".join(document.text))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//x", "http://[", "file:///etc/passwd"])
def test_strange_addresses_are_no_links(url):
    assert link(url, "here") == "here"
