"""Photos of one place or not: by what their lettering says of countries, also where that is one word."""

from itertools import combinations

import pytest

from tts.clues.clue_reader import ClueReader
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.eval.scenes.generate import SceneMaker
from tts.verify.evidence.several_photos import find_different_places
from tts.verify.evidence.world import World

FOREIGN_SCRIPTS = {
    "Korean": "약국",
    "Chinese": "火车站",
    "Japanese": "駅のりば",
    "Thai": "ร้านขายยา",
    "Arabic": "محطة القطار",
    "Greek": "Φαρμακείο",
    "Georgian": "აფთიაქი",
    "Hindi": "दवाखाना",
}


@pytest.fixture(scope="module")
def world(data_store, countries):
    gazetteer = data_store.gazetteer()
    return World(gazetteer, countries, ClueReader(gazetteer, data_store.lexicon(), countries))


def photo(*lines, confidence=0.95):
    def line(text, row):
        box = Box(x0=0.1, y0=0.08 * row, x1=0.6, y1=0.08 * row + 0.07)
        return TextLine(text=text, box=box, confidence=confidence)

    return Reading(photo_sha256="0" * 64, lines=tuple(line(text, row) for row, text in enumerate(lines, 1)))


def are_apart(world, *readings):
    return find_different_places((), readings, len(readings), world)


@pytest.mark.parametrize(("one", "other"), list(combinations(FOREIGN_SCRIPTS, 2)))
def test_words_in_scripts_that_no_country_uses_together_are_of_two_places(world, one, other):
    found = are_apart(world, photo(FOREIGN_SCRIPTS[one]), photo(FOREIGN_SCRIPTS[other]))
    assert found is not None
    assert [photo.number for photo in found.photos] == [0, 1]


@pytest.mark.parametrize("language", FOREIGN_SCRIPTS)
def test_a_word_contradicts_a_town_in_whose_country_its_script_is_not_used(world, language):
    found = are_apart(world, photo("Bellinzona"), photo(FOREIGN_SCRIPTS[language]))
    assert found is not None
    assert ("cannot" in found.sentence_start) is found.is_certain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("محطة القطار", "בית מרקחת"),  # Arabic and Hebrew: Israel
        ("Boulangerie", "Bäckerei"),  # French and German: Switzerland, Luxembourg, Belgium
        ("दवाखाना", "மருந்தகம்"),  # Hindi and Tamil: India
        ("Аптека", "აფთიაქი"),  # Russian and Georgian: Georgia
        ("محطة القطار", "Boulangerie"),  # Arabic and French: the Maghreb
        ("火车站", "மருந்தகம்"),  # Chinese and Tamil: Singapore
        ("약국", "Pharmacy"),  # English is written everywhere
        ("Padaria", "Panadería"),
        ("Bäckerei", "Panadería"),  # a shop with a foreign name in Latin letters
    ],
)
def test_words_that_one_street_may_have_are_of_one_place(world, one, other):
    assert are_apart(world, photo(one), photo(other)) is None


def test_a_word_that_was_hardly_legible_contradicts_nothing(world):
    assert are_apart(world, photo("약국", confidence=0.5), photo("Bellinzona")) is None


@pytest.mark.slow
def test_signs_of_one_street_are_of_one_place_and_signs_of_two_countries_rarely(world):
    maker = SceneMaker(seed=7, split="dev")
    scenes = [maker.plan(number) for number in range(60)]
    shown = [[photo(*(line.text for line in panel.lines[:10])) for panel in scene.panels] for scene in scenes]
    streets = [panels for panels in shown if len(panels) == 2]
    assert len(streets) > 30
    assert [panels for panels in streets if are_apart(world, *panels)] == []
    abroad = [
        (shown[number][0], shown[number + 1][0])
        for number in range(len(scenes) - 1)
        if scenes[number].locale.country != scenes[number + 1].locale.country
    ]
    assert sum(are_apart(world, *pair) is not None for pair in abroad) > 0.7 * len(abroad)
