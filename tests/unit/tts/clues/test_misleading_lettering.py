"""Rules against lettering that misleads: what each makes of its case, with the rule and without it."""

import pytest

from tts.clues.clue_reader import ClueReader
from tts.clues.misleading_words import cuisines, misleading_words, names_a_street, sells_food_or_names_a_shop
from tts.clues.rule import RULES, Rule
from tts.geodata.names import normalise


@pytest.fixture(scope="module")
def weigh(gazetteer, data_store, countries):
    """The belief from lines of text, with all rules or without one of them."""
    readers = {}

    def weighed(texts, without=None, beside=None):
        if without not in readers:
            rules = RULES - {without}
            readers[without] = ClueReader(gazetteer, data_store.lexicon(), countries, rules)
        reader = readers[without]
        leads = reader.leads(dict.fromkeys(texts, 1.0), beside=beside)
        return reader.weigher.weigh(leads.clues, leads.mentions), leads

    return weighed


def share_in(belief, name):
    return sum(share for place, share in belief.places if normalise(place.name) == normalise(name))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Rue de Toulouse", "Toulouse"),
        ("Calle Zamora", "Zamora"),
        ("Strada Tiraspol", "Tiraspol"),
        ("Akşehir Caddesi", "Akşehir"),
        ("Szegedi utca", "Szegedi"),
        ("ул. Видин", "Видин"),
        ("улица Саратов", "Саратов"),
        ("شارع طنطا", "طنطا"),
        ("ถนนกระบี่", "กระบี่"),
        ("南京路", "南京"),
        ("姫路通り", "姫路"),
        ("Jl. Bandung", "Bandung"),
        ("Oxford Road", "Oxford"),
        ("Malom utca", "Malom utca"),
    ],
)
def test_a_word_for_street_beside_a_name_makes_it_that_of_a_street(text, name):
    """A street word of its language stands before or after the name of a town."""
    at = text.index(name)
    assert names_a_street(text, at, at + len(name))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("12 Oxford Road Reading", "Reading"),
        ("Toulouse", "Toulouse"),
        ("東京 station", "東京"),
        ("Streetsville", "Streetsville"),
    ],
)
def test_a_name_that_no_word_for_street_belongs_to_stays_that_of_a_town(text, name):
    """The street word belongs to another name of the line, or there is none."""
    at = text.index(name)
    assert not names_a_street(text, at, at + len(name))


@pytest.mark.parametrize(
    ("street", "town", "country"),
    [("Calle Zamora", "Zamora", "ES"), ("Akşehir Caddesi", "Akşehir", "TR"), ("улица Саратов", "Saratov", "RU")],
)
def test_a_street_called_after_a_town_is_in_its_country_and_seldom_in_the_town(weigh, street, town, country):
    """“Akşehir Caddesi” was taken for the town of Akşehir; streets everywhere in Turkey are called after it."""
    with_rule, _ = weigh([street])
    without, _ = weigh([street], Rule.STREET)
    assert share_in(with_rule, town) < share_in(without, town) / 2
    assert with_rule.country[0] == country


def test_a_town_that_is_named_beside_its_street_keeps_its_belief(weigh):
    """The name after the postcode is that of the town, whatever the street is called."""
    belief, _ = weigh(["Calle Zamora 5", "28901 Getafe"])
    assert share_in(belief, "Getafe") > 0.9


def test_english_beside_a_local_line_is_for_visitors(weigh):
    """Three English signs in Prague outweighed the Czech one: the engine named an English-speaking country."""
    texts = ["Exchange office", "Opening hours", "No entry", "Zákaz parkování"]
    with_rule, _ = weigh(texts)
    without, _ = weigh(texts, Rule.VISITORS)
    assert without.country[0] == "US"
    assert with_rule.countries["CZ"] > 2 * without.countries["CZ"]
    assert with_rule.country[0] == "CZ"


def test_english_alone_still_speaks_for_countries_that_speak_it(weigh):
    """Without any local line English is not explained away."""
    belief, _ = weigh(["No dumping of rubbish", "Please keep off the grass"])
    assert sum(belief.countries[code] for code in ("GB", "US", "AU", "CA", "NZ", "IE", "ZA")) > 0.5


@pytest.mark.parametrize("lines", [["Restaurant Haifa"], ["Haifa", "Falafel"]])
def test_a_distant_name_on_a_shop_or_beside_food_is_weak(weigh, lines):
    """A place to eat in Kraków is called Haifa. The name stood for the town of Haifa."""
    beside = {"Haifa": ("Falafel",)}
    texts = [*lines, "Zapraszamy codziennie"]
    with_rule, _ = weigh(texts, beside=beside)
    without, _ = weigh(texts, Rule.FOOD_NAME, beside)
    assert with_rule.countries["IL"] < without.countries["IL"] / 5
    assert with_rule.country[0] == "PL"


def test_the_rule_for_shops_hardly_weakens_the_name_of_the_own_town(weigh):
    """A shop is also called after its own town: where another line gives the country, the rule changes little."""
    texts = ["Hotel Wilhelmsburg", "Zimmer frei", "www.zelmor.de"]
    with_rule, _ = weigh(texts)
    without, _ = weigh(texts, Rule.FOOD_NAME)
    assert share_in(with_rule, "Wilhelmsburg") > 0.7 * share_in(without, "Wilhelmsburg") > 0.0


def test_decoration_in_another_language_is_weak_beside_any_local_clue(weigh):
    """A bakery in Warsaw is lettered in French. Its lines outweighed the Polish one."""
    texts = ["Boulangerie", "Pain au chocolat", "Croissants", "Zapraszamy"]
    with_rule, _ = weigh(texts)
    without, _ = weigh(texts, Rule.DECORATION)
    assert with_rule.countries["PL"] > 2 * without.countries["PL"]
    assert with_rule.country[0] == "PL"


def test_a_bakery_with_other_lines_in_its_language_is_in_a_country_of_the_language(weigh):
    """The same French word with French notices is in France."""
    belief, _ = weigh(["Boulangerie", "Fermé le dimanche", "Défense de stationner"])
    assert belief.country[0] == "FR"


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("Pizzeria Bella", {"it"}),
        ("SUSHI & RAMEN", {"ja"}),
        ("Pho Hanoi", {"vi"}),
        ("Apotheke", set()),
        ("寿司", {"ja"}),
    ],
)
def test_a_word_for_food_belongs_to_the_language_of_its_cuisine(text, languages):
    """The words are those of `tts/data/misleading.yaml`."""
    assert cuisines(text) == languages


def test_a_shop_word_counts_within_its_line_and_a_food_word_also_beside_it():
    """“Hotel” above a name is another line's; “Pizza” above it is what the place sells."""
    assert sells_food_or_names_a_shop("Hotel Haifa", 6, 11)
    assert not sells_food_or_names_a_shop("Haifa", 0, 5, ["Hotel"])
    assert sells_food_or_names_a_shop("Haifa", 0, 5, ["Pizza"])


def test_the_misleading_words_are_stored_in_normalised_form():
    """A word that is nothing after folding would be found in every line."""
    words = misleading_words()
    for word in words.street_before | words.street_after | words.names:
        assert word
        assert word == normalise(word)
        assert len(word) > 1 or not word.isascii()
