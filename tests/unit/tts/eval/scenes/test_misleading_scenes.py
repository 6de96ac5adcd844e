"""Scenes whose signs point to a wrong place: they do so, say which kind they are, and can be drawn again."""

import pytest

from tts.clues.misleading_words import cuisines, misleading_words, names_a_street
from tts.eval.scenes.ambiguity import countries_by_wording
from tts.eval.scenes.fonts import FontShelf
from tts.eval.scenes.generate import SceneMaker
from tts.eval.scenes.locales import LOCALES
from tts.eval.scenes.misleading_signs import MISLEADING, STREETS
from tts.eval.scenes.towns import towns_of
from tts.eval.scenes.words import SPLITS, words_for
from tts.geodata.names import normalise

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def makers():
    pytest.importorskip("manimgx_fonts")
    pytest.importorskip("manimgx_fonts_cjk")
    shelf = FontShelf(system=False)
    return {split: SceneMaker(seed=3, split=split, shelf=shelf, misleading=True) for split in SPLITS}


@pytest.fixture(scope="module")
def scenes(makers):
    return [maker.plan(number) for maker in makers.values() for number in range(120)]


def scenes_of(scenes, template):
    found = [scene for scene in scenes if scene.template == template]
    assert len(found) >= 5
    return found


def lines(scene):
    return [line.text for line in scene.panel.lines]


def test_every_kind_of_misleading_sign_is_drawn_alone_and_tagged_with_its_kind(scenes):
    """One sign, no other beside it or farther away, so that nothing else decides."""
    assert {scene.template for scene in scenes} == {template.__name__ for template in MISLEADING}
    for scene in scenes:
        assert scene.beside is None
        assert not scene.farther
        assert f"template:{scene.template}" in scene.tags


def test_no_sign_names_its_own_town(scenes):
    """The true town would decide instead of the rule."""
    for scene in scenes:
        assert normalise(scene.town.name) not in {normalise(text) for text in lines(scene)}


@pytest.mark.parametrize(("language", "form"), STREETS.items())
def test_a_street_is_called_after_another_town(language, form):
    """In every language the engine's own words tell the line for that of a street."""
    locale = next(locale for locale in LOCALES if locale.language == language)
    for town in towns_of(locale)[:20]:
        street, start = form.format(town.name), form.index("{")
        end = start + len(town.name)
        end += len(street[end:].split(" ")[0]) if " " in form else 0  # “Szegedi utca”
        assert names_a_street(street, start, end), street


def test_english_is_for_visitors_only_where_it_is_no_language_of_the_country(scenes):
    """Elsewhere it would be local."""
    for scene in scenes_of(scenes, "english_for_visitors"):
        assert scene.locale.country not in countries_by_wording("en")
        english = words_for("en", scene.split)
        assert lines(scene)[0] in english.shop
        assert set(lines(scene)[1:3]) <= set(english.notice)


def test_food_is_of_a_language_that_is_not_written_there(scenes):
    """The rule knows the name of the food, but not the goods beside it."""
    for scene in scenes_of(scenes, "food_in_its_own_language"):
        (language,) = cuisines(lines(scene)[0])
        assert scene.locale.country not in countries_by_wording(language)


def test_a_shop_is_called_after_a_town_abroad(scenes):
    """A word for inn stands beside the name."""
    for scene in scenes_of(scenes, "distant_name_on_a_shop"):
        assert set(normalise(lines(scene)[0]).split()) & misleading_words().names


def test_the_same_seed_draws_the_same_photo_and_other_scenes_are_not_moved(makers):
    """Signs of the other family are those that were drawn before this one existed."""
    maker = makers["dev"]
    assert maker.photo(maker.plan(4)) == maker.photo(maker.plan(4))
    plain = SceneMaker(seed=3, split="dev", shelf=maker.shelf)
    assert plain.plan(4).template not in {template.__name__ for template in MISLEADING}
    assert {sample.id for sample in plain.samples(3)}.isdisjoint(sample.id for sample in maker.samples(3))
