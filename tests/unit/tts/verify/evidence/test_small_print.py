"""Small print that a tool repeats, and pages that are one page."""

import pytest
from support.rollouts import COIMBRA, OSAKA, answered_rollout, page, place

from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.verify.evidence.ledger import Finding
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.page_dedup import merge_same_pages, page_witness
from tts.verify.evidence.small_print import is_small_print
from tts.verify.evidence.world import World


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


def reading(*lines):
    box = Box(x0=0, y0=0, x1=1, y1=1)
    read = tuple(
        TextLine(text=line, box=box, confidence=0.9, script="Latn", angle_deg=0, height_px=40, reader="test")
        for line in lines
    )
    return Reading(photo_sha256="0" * 64, lines=read, unread=(), warnings=(), version="test")


def details(world, trajectory, *lines):
    ledger = build_ledger(trajectory, [reading(*lines)], world)
    return ledger.count(Finding.SUPPORTED, "detail")


@pytest.mark.parametrize(
    "line",
    [
        "Garden Road 245",
        "12 Rua Larga",
        "Lindenstraße 7b",
        "+351 239 859 900",
        "www.hotel-central.nz",
        "café.example.pt",
    ],
)
def test_an_address_a_number_or_a_domain_is_small_print(line):
    assert is_small_print(line)


@pytest.mark.parametrize(
    "line",
    [
        "Panda Market",
        "Open daily 9-18 h 30",
        "Since 1985",
        "Our house since 1985",
        "Bus 12",
        "2024",
        "x" * 90 + " 12",
        "",
    ],
)
def test_names_hours_and_years_are_no_small_print(line):
    assert not is_small_print(line)


def test_an_address_that_a_tool_repeats_speaks_for_its_point(world):
    shop = place(COIMBRA, name="Panda Market", address="Garden Road 245, Coimbra")
    assert details(world, answered_rollout(0, COIMBRA, facts=[shop]), "Panda Market", "Garden Road 245") == 1
    assert details(world, answered_rollout(0, COIMBRA, facts=[shop]), "Panda Market", "Garden Road 24") == 0
    assert details(world, answered_rollout(0, OSAKA, facts=[shop]), "Panda Market", "Garden Road 245") == 0, (
        "it is elsewhere"
    )


def test_small_print_counts_once_for_each_place_or_page(world):
    web_page = page("Coimbra", "https://example.org/a").model_copy(update={"snippet": "Garden Road 245, open daily"})
    mirrored = web_page.model_copy(update={"url": "http://www.example.org/a/", "number": 2})
    shop = place(COIMBRA, name="Panda Market", address="Garden Road 245, Coimbra")
    one = answered_rollout(0, COIMBRA, facts=[web_page, mirrored], city="Coimbra")
    both = answered_rollout(0, COIMBRA, facts=[web_page, shop], city="Coimbra")
    assert details(world, one, "Garden Road 245") == 1
    assert details(world, both, "Garden Road 245") == 2


def page_named(url, title="Grand Café, Coimbra", snippet="The best terrace of the old town, open daily."):
    return page_witness(page("x", url).model_copy(update={"title": title, "snippet": snippet}))


@pytest.mark.parametrize(
    "url",
    [
        "http://www.example.org/grand/",
        "https://m.example.org/grand?utm_source=search&gclid=1",
        "https://example.org/grand#content",
        "https://web.archive.org/web/2021/https://example.org/grand",
        "https://example-org.translate.goog/grand?_x_tr_tl=en",
    ],
)
def test_a_page_under_two_addresses_is_one_witness(url):
    one, other = merge_same_pages([frozenset({page_named("https://example.org/grand")}), frozenset({page_named(url)})])
    assert one == other


def test_a_page_with_two_snippets_is_one_witness():
    found = merge_same_pages(
        [frozenset({page_named("https://example.org/a", snippet=text)}) for text in ("first words here", "others")]
    )
    assert found[0] == found[1]


def test_different_pages_stay_apart_and_other_witnesses_stay_as_they_are():
    one, other = (
        page_named("https://example.org/a", title="A town"),
        page_named("https://example.org/b", title="B town"),
    )
    assert merge_same_pages([frozenset({one, "place:test:gn:1:x"}), frozenset({other})]) == [
        frozenset({one, "place:test:gn:1:x"}),
        frozenset({other}),
    ]
