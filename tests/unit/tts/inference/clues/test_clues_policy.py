"""What a rollout of the embedded engine asks: lines as another language, names inside a country, each by its seed."""

import pytest
from support.basics import a_context

from tts.clues.clue_reader import ClueReader
from tts.domain.messages import Message
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.domain.tooling import TextFact, ToolCall, ToolResult
from tts.inference.clues.notes import notes
from tts.inference.clues.rereads import Reread, languages_of, rereads
from tts.inference.clues.sibling_share import SiblingShare
from tts.inference.clues.unknown_words import found_names, strange_names, unknown_names
from tts.ports.model_client import ModelRequest, Sampling


@pytest.fixture(scope="module")
def reader(data_store, countries):
    return ClueReader(data_store.gazetteer(), data_store.lexicon(), countries)


@pytest.fixture
def known_for(sign_photo):
    def make(*texts, seed=1, temperature=0.0):
        boxes = [Box(x0=0.1, y0=0.15 * i, x1=0.6, y1=0.15 * i + 0.1) for i in range(len(texts))]
        lines = tuple(
            TextLine(text=text, box=box, confidence=0.95, height_px=40) for text, box in zip(texts, boxes, strict=True)
        )
        request = ModelRequest(
            context=a_context(),
            session_id="loc_test/0",
            messages=(),
            sampling=Sampling(temperature=temperature, seed=seed),
            photos=(sign_photo,),
            readings=(Reading(photo_sha256=sign_photo.sha256, lines=lines),),
        )
        return notes(request, 0.7), request.photos

    return make


def test_a_line_in_no_known_language_is_read_again_in_one_of_the_likely_country(known_for, reader):
    known, photos = known_for("ANTEKQ", "www.zelmor.kr")
    first = rereads(known, {"KR": 0.95}, photos, reader)[0]
    assert first.language == "ko"
    assert first.box.y0 < 0.05


def test_known_words_numbers_and_addresses_are_left_alone(known_for, reader):
    known, photos = known_for("+82 10 2345 6789", "www.zelmor.kr")
    assert rereads(known, {"KR": 0.95}, photos, reader) == []


def test_languages_of_one_script_are_tried_for_its_strange_lines(known_for, reader):
    known, photos = known_for("كوثلى")
    asked = {reread.language for reread in rereads(known, {"EG": 0.3, "IR": 0.3}, photos, reader)}
    assert {"ar", "fa", "ur"} <= asked


def test_latin_lettering_is_tried_as_vietnamese_only_where_that_is_spoken(known_for, reader):
    known, photos = known_for("Zelmorvat")
    asked = [{reread.language for reread in rereads(known, {code: 0.9}, photos, reader)} for code in ("FR", "VN")]
    assert ["vi" in languages for languages in asked] == [False, True]


def test_several_strange_lines_are_first_read_together_in_one_language(known_for, reader):
    known, photos = known_for("ANTEKQ", "SGGA", "KOTREL")
    first, *others = rereads(known, {"KR": 0.95}, photos, reader)
    assert first == Reread(Box(x0=0.0, y0=0.0, x1=1.0, y1=1.0), "ko", first.worth, several_lines=True)
    korean = [reread.box for reread in others if reread.language == "ko"]
    assert Box(x0=0.0, y0=0.0, x1=0.5, y1=0.5) in korean
    assert Box(x0=0.5, y0=0.5, x1=1.0, y1=1.0) not in korean
    assert len([box for box in korean if box.area < 0.2]) == 3


def test_several_lines_are_read_in_a_language_only_if_there_is_reason_to_expect_it(known_for, reader):
    texts = ("ANTEKQ", "SGGA", "KOTREL")

    def languages(belief, *more):
        known, photos = known_for(*texts, *more)
        return {reread.language for reread in rereads(known, belief, photos, reader) if reread.box.area > 0.2}

    assert languages({"DK": 0.8, "TH": 0.1, "KR": 0.1}) == set()
    assert languages({"KR": 0.5, "TH": 0.5}) == {"ko", "th"}
    assert "te" in languages({"IN": 0.9}, "తపాలా కార్యాలయం")


def test_languages_follow_the_belief(reader):
    shares = languages_of({"PK": 0.9, "GR": 0.1}, reader)
    assert shares["ur"] > shares["el"] > shares["ko"]


def test_only_words_that_nothing_explains_are_strange_names(known_for, reader):
    known, _ = known_for("روبڑی", "Wilhelmsburg", "price")
    assert strange_names(known, {"PK": 0.9, "IN": 0.05}, reader) == [("روبڑی", "PK")]


def test_a_line_beside_a_station_is_looked_up_first_and_although_it_is_made_of_words(known_for, reader):
    """“חל אביב” is “תל אביב” read badly; both of its words are ordinary ones, as in “מאי אביב”."""
    known, _ = known_for("Zelmorvat", "עירייה", "חל אביב")
    assert strange_names(known, {"IL": 0.9}, reader)[0] == ("חל אביב", "IL")
    known, _ = known_for("Zelmorvat", "מאי", "חל אביב")
    assert strange_names(known, {"IL": 0.9}, reader) == [("zelmorvat", "IL")]
    known, _ = known_for("עירייה", "תל אביב")
    assert strange_names(known, {"IL": 0.9}, reader) == []


def test_what_a_line_may_say_instead_is_looked_up_only_if_the_line_itself_means_nothing(reader):
    box = Box(x0=0.1, y0=0.1, x1=0.6, y1=0.2)
    for text, names in (("Correios", []), ("Zelmorvat", ["сотекњ", "zelmorvat"])):
        line = TextLine(text=text, box=box, confidence=0.95, height_px=40, alternatives=("Сотекњ",))
        assert sorted(name for name, _ in unknown_names([line], reader)) == sorted(names)


def test_a_strange_name_keeps_its_vowel_signs(known_for, reader):
    known, _ = known_for("மன்னாலகுடி")
    assert strange_names(known, {"IN": 0.9}, reader) == [("மன்னாலகுடி", "IN")]


def test_rollouts_ask_differently_by_their_seed_and_repeat_with_the_same_one(known_for, reader):
    def asked(seed):
        known, photos = known_for("Zelmorvat", "Quotarne", "Lovinpe", seed=seed, temperature=0.7)
        belief = {"KR": 0.2, "TH": 0.2, "RU": 0.2, "IL": 0.2}
        return rereads(known, belief, photos, reader)[0], strange_names(known, belief, reader)[0]

    assert asked(3) == asked(3)
    assert len({asked(seed) for seed in range(8)}) > 4


@pytest.fixture
def after_reading(sign_photo):
    """Notes of a rollout that read `first`, line under line, and then had `found` read below it."""

    def make(first, found):
        def boxes(texts, start):
            return [
                (text, Box(x0=0.1, y0=start + 0.1 * i, x1=0.6, y1=start + 0.1 * i + 0.08))
                for i, text in enumerate(texts)
            ]

        lines = tuple(TextLine(text=text, box=box, confidence=0.95, height_px=40) for text, box in boxes(first, 0.0))
        facts = tuple(
            TextFact(text=text, box=box, language="he", confidence=0.7) for text, box in boxes(found, 0.1 * len(first))
        )
        call = ToolCall(id="c", name="read_text", arguments={"bbox": [0.0, 0.0, 1.0, 1.0], "language": "he"})
        request = ModelRequest(
            context=a_context(),
            session_id="loc_test/0",
            messages=(
                Message(role="assistant", tool_calls=(call,)),
                Message(role="tool", result=ToolResult(call_id="c", name="read_text", text="", facts=facts)),
            ),
            sampling=Sampling(temperature=0.0, seed=2),
            photos=(sign_photo,),
            readings=(Reading(photo_sha256=sign_photo.sha256, lines=lines),),
        )
        return notes(request, 0.7)

    return make


def test_a_name_found_beside_a_town_hall_that_was_read_before_is_found(after_reading, reader):
    assert found_names(after_reading(["עירייה"], ["חל אביב"]), reader) == {"חל אביב"}
    assert found_names(after_reading(["Zelmorvat"], []), reader) == frozenset()


def test_a_sibling_looks_up_all_that_it_has_found_and_its_share_of_the_rest(after_reading, reader):
    known = after_reading(["Zelmorvat", "Quotarne"], ["זלמורבט", "קווטרנה"])
    asked = [{name for name, _ in strange_names(known, {"IL": 0.9}, reader, SiblingShare(i, 2))} for i in range(2)]
    assert asked[0] & asked[1] == {"זלמורבט", "קווטרנה"}
    assert asked[0] | asked[1] == {"זלמורבט", "קווטרנה", "zelmorvat", "quotarne"}
