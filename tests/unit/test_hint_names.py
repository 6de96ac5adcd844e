"""Which places a hint states: only those of which it says that the photo was taken there."""

import pytest

from tts.clues.hint_names import stated_in
from tts.clues.reader import ClueReader


@pytest.fixture(scope="module")
def reader(data_store, countries):
    return ClueReader(data_store.gazetteer(), data_store.lexicon(), countries)


@pytest.mark.parametrize(
    ("hint", "places"),
    [
        ("kyiv", "Kyiv UA"),
        ("Praha", "Prague CZ"),
        ("北京", "Beijing CN"),
        ("Ticino", "Ticino CH"),
        ("USA", "United States US"),
        ("Bellinzona, Switzerland", "Bellinzona CH"),
        ("in Paris, Texas", "Paris US"),
        ("in Bosnia and Herzegovina", "Bosnia and Herzegovina BA"),
        ("in Ticino, close to Bellinzona", "Bellinzona CH"),
        ("at Christmas in Vienna", "Vienna AT"),
        ("a photo from Kyiv", "Kyiv UA"),
        ("we were in Mobile", "Mobile US"),
        ("The answer is Kyiv, 50.45, 30.52", "Kyiv UA"),
    ],
)
def test_a_place_that_is_stated(reader, hint, places):
    stated = stated_in(hint, reader)
    assert stated is not None
    (name,) = stated.names
    assert (f"{name[0].name} {name[0].country_code}", stated.asked) == (places, False)


@pytest.mark.parametrize(
    ("hint", "places"),
    [
        ("Is this Rome, Milan or Turin?", ["Rome", "Milan", "Turin"]),
        ("Rome or Milan", ["Rome", "Milan"]),
        ("maybe Rome", ["Rome"]),
        ("Was it taken in Spain or in Portugal?", ["Spain", "Portugal"]),
        ("Where in Italy is this?", ["Italy"]),
    ],
)
def test_a_question_is_no_claim(reader, hint, places):
    stated = stated_in(hint, reader)
    assert stated is not None
    assert ([name[0].name for name in stated.names], stated.asked) == (places, True)


@pytest.mark.parametrize(
    "hint",
    [
        "taken on a school trip",
        "on the road to Milan",
        "near Lake Maggiore",
        "not in Italy",
        "it isn't Italy but Switzerland",
        "No, Italy is wrong",
        "my friend Paris sent it",
        "from a tourist from Germany",
        "This is Paris, my sister",
        "I am from Italy",
        "I live in Berlin",
        "made in China",
        "reply in English please",
        "English",
        "Of all places on Earth",
        "Mobile phone picture",
        "in May",
        "in Georgia",
        "Where was this photo taken?",
        "please",
        "",
    ],
)
def test_words_that_state_no_place(reader, hint):
    assert stated_in(hint, reader) is None
