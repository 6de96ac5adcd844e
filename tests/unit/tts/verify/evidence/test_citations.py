"""Every citation links to what it quotes, and what speaks against an answer is listed against it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rollouts import COIMBRA, answered_rollout, page, place

from tts.clues.clue import ClueKind
from tts.clues.clue_reader import ClueReader
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Claim
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.geodata.names import normalise
from tts.verify.evidence.evidence_sources import statement_of
from tts.verify.evidence.ledger import Finding
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.world import World

NAMES = ("Zaozhuang", "Taozhuang", "Zao", "Coimbra", "Nova Coimbra", "枣庄市")
ZAOZHUANG = LatLon(lat=34.86472, lon=117.55417)


@pytest.fixture(scope="module")
def world(data_store, countries):
    gazetteer = data_store.gazetteer()
    return World(gazetteer, countries, ClueReader(gazetteer, data_store.lexicon(), countries))


def a_place(name, number):
    return place(COIMBRA, ident=f"gn:{number}", name=name, url=f"https://example.org/{number}")


def a_page(name, number):
    return page(name, f"https://example.org/{number}")


WORDS = ("a walk", "streets and shops")


@settings(max_examples=80)
@given(
    found=st.lists(st.tuples(st.sampled_from((a_place, a_page)), st.sampled_from(NAMES)), min_size=1, max_size=4),
    claims=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from((*NAMES, *WORDS, "", "a line of the photo")))),
)
def test_a_link_goes_to_a_place_or_page_that_says_what_is_quoted(world, found, claims):
    facts = [made(name, number) for number, (made, name) in enumerate(found)]
    stated = [Claim(text=f"{name} is in PT", call_id="c1", quote=quote) for name, quote in claims]
    ledger = build_ledger(answered_rollout(0, COIMBRA, facts=facts, city=found[0][1], claims=stated), (), world)
    by_url = {fact.url: normalise(statement_of(fact)) for fact in facts}
    for entry in ledger.entries:
        if entry.url is not None:
            assert normalise(entry.quote) in by_url[entry.url], entry


@pytest.mark.parametrize("quote", ["Coimbra: a walk", "streets and shops"])
def test_a_quote_of_a_page_links_to_the_page(world, quote):
    facts = [a_place("Zaozhuang", 0), a_page("Coimbra", 1)]
    claims = [Claim(text="Coimbra is in PT", call_id="c1", quote=quote)]
    ledger = build_ledger(answered_rollout(0, COIMBRA, facts=facts, city="Coimbra", claims=claims), (), world)
    (cited,) = [entry for entry in ledger.entries if entry.about == "cited"]
    assert (cited.url, cited.supports) == ("https://example.org/1", True)


def test_wording_of_another_country_is_listed_against(world):
    lines = [
        TextLine(text=text, box=Box(x0=0.1, y0=y, x1=0.6, y1=y + 0.1), confidence=0.95)
        for text, y in (("محطة القطار", 0.2), ("火车站", 0.5))
    ]
    reading = Reading(photo_sha256="0" * 64, lines=tuple(lines))
    claims = [
        Claim(text="the text is in Arabic", quote=lines[0].text),
        Claim(text="the text is in Chinese", quote=lines[1].text),
    ]
    ledger = build_ledger(answered_rollout(0, ZAOZHUANG, city="Zaozhuang", claims=claims), [reading], world)
    supports = {entry.claim: entry.supports for entry in ledger.entries if entry.about == "cited"}
    assert supports == {"the text is in Arabic": False, "the text is in Chinese": True}


@pytest.mark.parametrize(("states_lines", "languages"), [(True, 0), (False, 1)], ids=["from its lines", "by itself"])
def test_a_sentence_made_from_the_lines_read_is_no_witness_besides_them(world, states_lines, languages):
    """The embedded engine reads lines and names their language; a model that names a language has looked for itself."""
    line = TextLine(text="محطة القطار", box=Box(x0=0.1, y0=0.2, x1=0.6, y1=0.3), confidence=0.95)
    clue = next(c for c in world.clues.leads({line.text: 1.0}).clues if c.kind is ClueKind.LANGUAGE)
    assert clue.why == "the text is in Arabic"
    claims = [Claim(text=clue.why, quote=line.text)]
    run = answered_rollout(0, ZAOZHUANG, city="Zaozhuang", claims=claims, read=(line,) if states_lines else ())
    about = [entry.about for entry in build_ledger(run, (), world).entries]
    assert about.count("language") == languages


@pytest.mark.parametrize(("hint", "grounded"), [(None, True), ("it is Coimbra", False), ("a holiday", True)])
def test_a_lookup_of_the_place_in_the_hint_gives_no_grounding(world, hint, grounded):
    run = answered_rollout(0, COIMBRA, facts=[place(COIMBRA, name="Coimbra")], city="Coimbra", country="Portugal")
    ledger = build_ledger(run, (), world, hint)
    assert (ledger.grounding > 0) is grounded
    assert any(e.finding is Finding.SUPPORTED and e.tool for e in ledger.entries) is grounded
