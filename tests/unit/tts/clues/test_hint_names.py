"""Which places a hint states: only those of which it says that the photo was taken there."""

import pytest

from tts.clues.clue_reader import ClueReader
from tts.clues.hint_names import stated_in


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
def test_a_stated_place_is_read_from_a_hint(reader, hint, places):
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
    ("hint", "places"),
    [
        ("not in Italy", ["Italy"]),
        ("not Italy.", ["Italy"]),
        ("It is not in Rome", ["Rome"]),
        ("This was not taken in the USA", ["United States"]),
        ("it isn’t in Italy", ["Italy"]),
        ("definitely outside of Ticino", ["Ticino"]),
        ("not in Italy or France", ["Italy", "France"]),
        ("not in Bosnia and Herzegovina", ["Bosnia and Herzegovina"]),
        ("not in Paris, Texas", ["Paris"]),
        ("Not in Italy. Not in France.", ["Italy", "France"]),
    ],
)
def test_a_denial_in_a_hint_names_the_places_that_are_denied(reader, hint, places):
    stated = stated_in(hint, reader)
    assert stated is not None
    assert ([name[0].name for name in stated.names], stated.denied) == (places, True)


def test_a_hint_outside_a_town_means_near_the_town(reader):
    stated = stated_in("outside Rome", reader)
    assert stated is not None
    assert (stated.names[0][0].name, stated.near, stated.denied) == ("Rome", True, False)


def test_a_place_that_is_stated_beside_a_denial_counts(reader):
    stated = stated_in("Not in Italy. It is near Lugano.", reader)
    assert stated is not None
    assert ([name[0].name for name in stated.names], stated.denied) == (["Lugano"], False)


@pytest.mark.parametrize(
    "hint",
    [
        "taken on a school trip",
        "on the road to Milan",
        "near Lake Maggiore",
        "not far from Rome",
        "not sure",
        "not in Georgia",
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
def test_a_hint_that_states_no_place_gives_no_statement(reader, hint):
    assert stated_in(hint, reader) is None
