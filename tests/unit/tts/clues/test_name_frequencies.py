"""Words that are names of towns, and words that are not."""

import pytest

from tts.clues.belief import Weigher
from tts.clues.clue import ClueKind
from tts.clues.clue_reader import ClueReader
from tts.clues.conclusion import conclusion, is_worth_a_point
from tts.clues.name_frequencies import NameFrequencies


@pytest.fixture(scope="module")
def names(data_store, gazetteer, countries):
    return NameFrequencies(gazetteer, data_store.lexicon(), Weigher(gazetteer, countries).priors)


@pytest.fixture(scope="module")
def reader(data_store, gazetteer, countries):
    return ClueReader(gazetteer, data_store.lexicon(), countries)


@pytest.mark.parametrize("word", ["toulouse", "bologna", "liverpool", "yokohama", "napoli", "харьков", "мадрид"])
def test_a_word_as_frequent_as_the_name_of_a_large_town_is_the_name(names, word):
    assert names.name_use(word).word_share < 0.5


@pytest.mark.parametrize("word", ["reading", "nice", "orange", "split", "mobile", "welcome", "hotel", "street"])
def test_a_word_that_is_too_frequent_for_its_town_is_an_ordinary_word(names, word):
    assert names.name_use(word).word_share > 0.5


@pytest.mark.parametrize("word", ["zelmorvatarne", "ab", "breakfast"])
def test_a_word_without_a_town_or_a_list_is_no_name(names, word):
    assert names.name_use(word).word_share == 1.0


def test_a_word_may_be_a_name_in_one_language_and_a_word_in_another(names, gazetteer):
    shares = names.word_shares("nice", gazetteer.search("nice", fuzzy=False))
    assert shares["en"] > 0.9
    assert shares["fr"] < shares["en"]


def test_only_towns_of_the_name_make_a_word_their_name(names):
    assert set(names.word_shares("liverpool", []).values()) == {1.0}


@pytest.mark.parametrize(
    ("sign", "country"),
    [
        ("Liverpool", "GB"),
        ("Naples", "IT"),
        ("Toulouse", "FR"),
        ("Bologna", "IT"),
        ("Sevilla", "ES"),
        ("Leipzig", "DE"),
    ],
)
def test_a_sign_with_only_the_name_of_a_large_town_is_answered(reader, countries, sign, country):
    leads = reader.leads({sign: 1.0})
    belief = reader.weigher.weigh(leads.clues, leads.mentions)
    assert is_worth_a_point(belief, leads)
    assert conclusion(belief, countries).country_code == country


@pytest.mark.parametrize(
    ("lines", "country"),
    [
        (["London", "Apotheke"], "DE"),
        (["Panama", "Hüte"], "DE"),
        (["Osteria Roma", "Reservierung", "Öffnungszeiten"], "DE"),
        (["Carrefour"], "FR"),
    ],
)
def test_the_name_of_a_distant_town_on_a_shop_does_not_outweigh_the_language(reader, countries, lines, country):
    leads = reader.leads(dict.fromkeys(lines, 1.0))
    belief = reader.weigher.weigh(leads.clues, leads.mentions)
    assert belief.country[0] == country


def test_another_name_of_a_town_does_not_count_where_towns_have_it_as_their_main_name(names, reader):
    """Hong Kong was called Victoria, too."""
    leads = reader.leads({"Victoria": 1.0})
    assert not is_worth_a_point(reader.weigher.weigh(leads.clues, leads.mentions), leads)
    assert names.name_use("victoria").word_share > 0.4


@pytest.mark.parametrize("sign", ["Reading room", "Nice day", "Split"])
def test_a_sign_with_an_ordinary_word_is_not_placed_in_the_town_of_that_name(reader, sign):
    leads = reader.leads({sign: 1.0})
    belief = reader.weigher.weigh(leads.clues, leads.mentions)
    assert max((share for _, share in belief.places), default=0.0) < 0.1


def test_the_name_of_a_town_says_little_about_the_language_of_a_line(reader):
    """Word lists have “Liverpool” most often in Malay, for its football."""
    (language,) = [clue for clue in reader.leads({"Liverpool": 1.0}).clues if clue.kind is ClueKind.LANGUAGE]
    assert language.weights["MY"] - language.weights["GB"] < 0.5
