import io
import json
import random
from dataclasses import replace

import numpy as np
import phonenumbers
import pytest
from PIL import Image, features

from tts.errors import DataError
from tts.eval.datasets import load_dataset
from tts.eval.scenes import fonts, sign_numbers
from tts.eval.scenes.ambiguity import common, countries_by_phone_number, countries_by_wording
from tts.eval.scenes.fonts import FontShelf
from tts.eval.scenes.generate import SceneMaker, write_scenes
from tts.eval.scenes.locales import LOCALES, SCRIPTS
from tts.eval.scenes.templates import TEMPLATES
from tts.eval.scenes.towns import neighbours, towns_of
from tts.eval.scenes.words import SPLITS, words_for
from tts.geodata.countries import Countries
from tts.geodata.names import script_of

LANGUAGES = tuple(dict.fromkeys(locale.language for locale in LOCALES))


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def makers():
    pytest.importorskip("manimgx_fonts")
    pytest.importorskip("manimgx_fonts_cjk")
    shelf = FontShelf(system=False)
    return {split: SceneMaker(seed=3, split=split, shelf=shelf) for split in SPLITS}


@pytest.fixture(scope="module")
def planned(makers):
    return {split: [makers[split].plan(i) for i in range(200)] for split in SPLITS}


def all_words(words):
    return {*words.shop, *words.public, *words.notice, *words.goods, *words.street} | {words.hours, words.rent} - {""}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_third_of_the_words_is_held_out_and_none_is_shared(language):
    dev, held_out = (all_words(words_for(language, split)) for split in SPLITS)
    assert not dev & held_out
    assert 0.3 <= len(held_out) / len(dev | held_out) <= 0.4
    assert all(word == word.strip() for word in dev | held_out)


def test_a_third_of_the_templates_is_held_out():
    dev, held_out = set(TEMPLATES["dev"]), set(TEMPLATES["held_out"])
    assert not dev & held_out
    assert len(held_out) * 2 == len(dev)


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_are_written_in_the_script_of_their_language(language):
    script = next(locale.script for locale in LOCALES if locale.language == language)
    allowed = {"Hans": {"Hani", "Jpan"}, "Hant": {"Hani", "Jpan"}, "Jpan": {"Hani", "Jpan"}}.get(script, {script})
    for split in SPLITS:
        assert {script_of(word) for word in all_words(words_for(language, split))} <= allowed


def test_the_scenes_extra_draws_every_script_of_the_word_lists(makers):
    assert len(LANGUAGES) >= 25
    missing = makers["dev"].shelf.missing
    assert missing == {} if features.check("raqm") else all("Raqm" in reason for reason in missing.values())
    assert len(SCRIPTS) >= 20


def test_scripts_that_cannot_be_drawn_are_listed_with_a_reason(monkeypatch):
    monkeypatch.setattr(fonts, "_packaged_file", lambda package, name: None)
    shelf = FontShelf(system=False)
    assert shelf.drawable == ()
    assert all("pip install" in reason for reason in shelf.missing.values())
    with pytest.raises(DataError, match="pip install"):
        SceneMaker(shelf=shelf)


def test_a_missing_font_leaves_one_script_out_and_the_others_in(monkeypatch):
    found = fonts._packaged_file
    monkeypatch.setattr(fonts, "_packaged_file", lambda p, name: None if "Khmer" in name else found(p, name))
    maker = SceneMaker(shelf=FontShelf(system=False))
    assert [*maker.shelf.missing] == ["Khmr"]
    assert "km" not in maker.languages


def test_shaped_scripts_need_raqm(monkeypatch):
    monkeypatch.setattr(fonts.features, "check", lambda name: False)
    missing = FontShelf(system=False).missing
    assert {"Arab", "Deva", "Khmr"} <= missing.keys()
    assert not {"Latn", "Cyrl", "Hans"} & missing.keys()


def test_the_same_seed_draws_the_same_bytes(makers):
    again = SceneMaker(seed=3, split="dev", shelf=makers["dev"].shelf)
    one, two = makers["dev"].plan(5), again.plan(5)
    assert one == two
    assert makers["dev"].photo(one) == again.photo(two)
    other = SceneMaker(seed=4, split="dev", shelf=makers["dev"].shelf)
    assert other.photo(other.plan(5)) != makers["dev"].photo(one)


@pytest.mark.parametrize("split", SPLITS)
def test_scenes_cover_all_languages_and_templates(planned, split):
    assert {scene.locale.language for scene in planned[split]} == set(LANGUAGES)
    assert {scene.template for scene in planned[split]} == {template.__name__ for template in TEMPLATES[split]}
    assert {scene.panel.clue for scene in planned[split]} >= {"town", "phone", "domain", "language"}


def test_every_town_is_where_the_gazetteer_has_it_and_in_its_country(planned, gazetteer):
    for scene in planned["dev"][:60]:
        place = gazetteer.get(scene.town.id)
        assert place is not None
        assert place.country_code == scene.truth(Countries()).country_code == scene.locale.country
        assert scene.truth(Countries()).city == scene.town.latin


def test_town_scenes_name_the_town_and_others_do_not(planned):
    for split in SPLITS:
        for scene in planned[split]:
            named = any(scene.town.name in line.text for panel in scene.panels for line in panel.lines)
            assert named == (scene.clue == "town") or scene.town.name in scene.panel.lines[0].text, scene


@pytest.mark.parametrize(
    "locale", [one for one in LOCALES if one.language in ("uk", "ja", "el", "th", "fr", "vi")], ids=str
)
def test_towns_bear_their_own_names(locale):
    towns = towns_of(locale)
    assert len(towns) >= 5
    if locale.language == "uk":
        assert not any(letter in town.name.lower() for town in towns for letter in "ыэъё")
    if locale.script != "Latn":
        assert all(script_of(town.name) != "Latn" for town in towns)
    nearest = neighbours(towns[0], locale)
    assert [km for _, km in nearest] == sorted(km for _, km in nearest)


@pytest.mark.parametrize("split", SPLITS)
def test_no_fact_of_a_scene_rules_out_its_own_country(planned, split):
    for scene in planned[split]:
        facts = [fact for panel in scene.panels for fact in panel.facts]
        assert all(scene.locale.country in fact for fact in facts), (scene.locale, scene.panels)
        assert ("determined" in scene.tags) == scene.determined


def test_a_scene_whose_words_fit_several_countries_is_not_determined(planned):
    """A Spanish word may stand in twenty countries, a web address names one, and two open facts may meet in one."""
    assert {"ES", "MX", "AR"} <= countries_by_wording("es")
    assert countries_by_wording("zh") & countries_by_wording("zh_Hant") == set()
    assert {"FR", "GE"} <= sign_numbers.plates_like("GE")
    assert countries_by_phone_number("+48 512 344 682") == {"PL"}
    assert len(countries_by_phone_number("0712 120757")) > 3
    assert common((frozenset({"AT", "DE"}), frozenset({"AT", "HU"}))) == {"AT"}
    for scene in planned["dev"]:
        if scene.clue == "language" and scene.locale.language == "es":
            assert not scene.determined
        if scene.clue == "domain":
            assert scene.determined


def test_most_signs_do_not_hang_alone_and_both_are_drawn(makers, planned):
    two = [scene for scene in planned["held_out"] if scene.beside is not None]
    assert 0.4 < len(two) / len(planned["held_out"]) < 0.8
    scene = two[0]
    alone = makers["held_out"].photo(replace(scene, beside=None))
    assert makers["held_out"].photo(scene) != alone
    assert scene.clue in {panel.clue for panel in scene.panels}


def test_streets_have_farther_signs_that_do_not_change_the_near_ones(makers, planned):
    """None to three; they say true things of the same town, and the tags stay those of the near signs."""
    near = SceneMaker(seed=3, split="dev", shelf=makers["dev"].shelf, street=False)
    assert {len(scene.farther) for scene in planned["dev"]} == {0, 1, 2, 3}
    for number, scene in enumerate(planned["dev"]):
        assert replace(scene, farther=()) == near.plan(number)
        assert all(scene.locale.country in fact for panel in scene.farther for fact in panel.facts)
        assert f"farther:{len(scene.farther)}" in scene.tags
        assert set(scene.tags) - set(near.plan(number).tags) <= {f"farther:{len(scene.farther)}"}


def test_farther_signs_stand_to_one_side_and_are_small(makers, planned):
    from tts.domain.photo_cleaning import load_photo
    from tts.perception.sign_reader import SignReader

    reader, seen = SignReader(), 0
    for scene in [s for s in planned["dev"] if s.locale.script == "Latn" and len(s.farther) == 3][:4]:
        lines = reader.read(load_photo(makers["dev"].photo(scene))).lines
        near, farther = _words(scene.panels), _words(scene.farther)
        street = [line for line in lines if line.text.split()[0] in farther - near]
        assert len({line.box.x0 > 0.5 for line in street}) <= 1
        assert all(line.box.x0 >= 0.69 or line.box.x1 <= 0.31 for line in street)
        assert all(line.height_px < lines[0].height_px for line in street)
        seen += len(street)
    assert seen


def _words(panels):
    return {line.text.split()[0] for panel in panels for line in panel.lines}


def test_numbers_have_national_form():
    for locale in LOCALES:
        rng = random.Random(str(locale))
        if (number := sign_numbers.phone(locale, rng, international=True)) is not None:
            assert phonenumbers.is_valid_number(phonenumbers.parse(number)), (locale, number)
        assert sign_numbers.web_address(locale, rng).endswith(Countries().get(locale.country).tld)
        price = sign_numbers.price(locale, rng)
        assert price is not None, locale
        assert price[1] == Countries().get(locale.country).currency or locale.country == "PS"


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_scene_of_every_script_is_a_photograph_with_contrast(makers, planned, script):
    scene = next(scene for scene in planned["dev"] if scene.locale.script == script)
    picture = Image.open(io.BytesIO(makers["dev"].photo(scene)))
    assert picture.size == (1280, 960)
    assert np.asarray(picture.convert("L")).std() > 12


def test_a_latin_town_sign_can_be_read_back(makers, planned):
    from tts.domain.photo_cleaning import load_photo
    from tts.perception.sign_reader import SignReader

    reader = SignReader()
    towns = [s for s in planned["dev"] if s.panel.clue == "town" and s.town.name.isascii()][:3]
    read = 0
    for scene in towns:
        lines = reader.read(load_photo(makers["dev"].photo(scene)), None).lines
        read += any(scene.town.name.lower().replace(" ", "") in line.text.lower().replace(" ", "") for line in lines)
    assert read >= len(towns) - 1


def test_written_scenes_are_a_data_set(makers, tmp_path):
    write_scenes(makers["held_out"], 4, tmp_path)
    labels = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    samples = load_dataset("folder", tmp_path)
    assert len(samples) == len(labels) == 4
    assert {s.truth.country_code for s in samples} == {label["country_code"] for label in labels}
    assert all("held_out" in s.tags for s in samples)
