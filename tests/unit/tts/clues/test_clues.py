"""What lines of text say about countries and places, kind by kind."""

import gzip
import importlib.resources
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.clues.belief import Weigher
from tts.clues.clue import Clue, ClueKind, clues_for_countries
from tts.clues.clue_reader import ClueReader
from tts.clues.clue_tables import tables
from tts.clues.country_words import wording_clues
from tts.clues.line_languages import LanguageReader, split_words
from tts.clues.mentions import MentionReader, phone_town
from tts.clues.name_frequencies import NameFrequencies
from tts.clues.numbers import number_clues
from tts.clues.plates import plate_clues
from tts.clues.words_around_names import TOWN_NAMED, weight_beside
from tts.domain.geo import LatLon, distance_km
from tts.geodata.names import normalise


@pytest.fixture(scope="module")
def lexicon(data_store):
    return data_store.lexicon()


@pytest.fixture(scope="module")
def languages(lexicon, countries):
    return LanguageReader(lexicon, countries)


@pytest.fixture(scope="module")
def weigh(data_store, countries):
    """The belief that lines of a photo lead to."""
    reader = ClueReader(data_store.gazetteer(), data_store.lexicon(), countries)

    def from_lines(*texts):
        leads = reader.leads(dict.fromkeys(texts, 1.0))
        return reader.weigher.weigh(leads.clues, leads.mentions)

    return from_lines


@pytest.fixture(scope="module")
def mention_reader(gazetteer, lexicon, countries):
    priors = Weigher(gazetteer, countries).priors
    return MentionReader(gazetteer, lexicon, NameFrequencies(gazetteer, lexicon, priors))


@pytest.fixture(scope="module")
def reader(gazetteer, lexicon, countries):
    return ClueReader(gazetteer, lexicon, countries)


def best_countries(clue):
    top = max(clue.weights.values())
    return {code for code, value in clue.weights.items() if value >= top - 1e-9}


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("Tel. +49 40 1234567", ClueKind.PHONE, "DE"),
        ("☎ 03-3456-7890", ClueKind.PHONE, "JP"),
        ("Kaffee 2,50 €", ClueKind.CURRENCY, "DE"),
        ("Chleb 4,50 zł", ClueKind.CURRENCY, "PL"),
        ("ราคา 45 ฿", ClueKind.CURRENCY, "TH"),
        ("R$ 12,90", ClueKind.CURRENCY, "BR"),
        ("N2,510", ClueKind.CURRENCY, "NG"),
        ("MH 12 AB 1234", ClueKind.PLATE, "IN"),
        ("京A·12345", ClueKind.PLATE, "CN"),
        ("SPEED LIMIT 35", ClueKind.UNIT, "US"),
        ("Low bridge 30 mph", ClueKind.UNIT, "GB"),
        ("Springfield, IL 62701", ClueKind.POSTCODE, "US"),
    ],
)
def test_numbers_point_to_countries(countries, text, kind, code):
    found = [clue for clue in number_clues(text, countries) if clue.kind is kind]
    assert any(code in clue.weights and clue.weight(code) > clue.other for clue in found), found


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("KA 05 MQ 4471", {"IN"}),
        ("1-ABC-234", {"BE"}),
        ("9M1 5874", {"CZ"}),
        ("12가 3456", {"KR"}),
        ("30A-123.66", {"VN"}),
        ("AB-123-CD", {"FR", "GE"}),
        ("А123ВС 77", {"RU"}),
        ("171-D-12345", {"IE"}),
        ("KDA 123B", {"KE"}),
    ],
)
def test_a_plate_names_the_countries_that_have_its_form(text, best):
    (clue,) = plate_clues(text)
    assert {code for code, weight in clue.weights.items() if weight == 0.0} == best
    assert clue.other < -4.0


@pytest.mark.parametrize("text", ["BAKERY", "12:30", "+49 30 1234", "Open 9-17", "STOP", "Platz 12"])
def test_text_that_is_no_number_plate_gives_no_plate_clue(text):
    assert list(plate_clues(text)) == []


def test_letters_of_a_number_plate_give_no_language_clue(languages):
    assert languages.clue({"MH 68 BS 5149": 1.0}) is None
    assert languages.clue({"Bonn 12": 1.0}) is not None


def test_words_with_vowel_signs_give_a_language_clue(languages):
    clue = languages.clue({"किराना स्टोर": 1.0})
    assert clue is not None
    assert clue.weight("IN") > clue.weight("BD") + 3.0


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("www.zelmorva.fr", ClueKind.DOMAIN, "FR"),
        ("Müller Bau GmbH", ClueKind.COMPANY, "DE"),
        ("Kowalski sp. z o.o.", ClueKind.COMPANY, "PL"),
        ("São Jorge Ltda", ClueKind.COMPANY, "BR"),
        ("10 High St, SW1A 1AA", ClueKind.POSTCODE, "GB"),
        ("01310-100", ClueKind.POSTCODE, "BR"),
        ("〒100-0001", ClueKind.POSTCODE, "JP"),
        ("ร้านอาหาร", ClueKind.SCRIPT, "TH"),
        ("საქართველო", ClueKind.SCRIPT, "GE"),
    ],
)
def test_wording_points_to_countries(countries, lexicon, text, kind, code):
    found = [clue for clue in wording_clues(text, countries, lexicon) if clue.kind is kind]
    assert any(code in clue.weights for clue in found), found


@pytest.mark.parametrize("text", ["N2", "RN2,510", "N 12,50", "N2,51", "Room N1000"])
def test_an_n_before_a_number_is_no_price(countries, text):
    assert not [clue for clue in number_clues(text, countries) if clue.kind is ClueKind.CURRENCY]


@pytest.mark.parametrize("text", ["N2,510", "1,280", "Coffee 1,280"])
def test_the_end_of_a_price_is_no_postcode(countries, lexicon, text):
    assert not [clue for clue in wording_clues(text, countries, lexicon) if clue.kind is ClueKind.POSTCODE]


def test_a_lone_code_behind_a_town_is_a_postcode(countries, lexicon):
    for text in ("Bad Homburg,61348", "Main Street 5, 4000"):
        assert [clue for clue in wording_clues(text, countries, lexicon) if clue.kind is ClueKind.POSTCODE], text


def test_a_domain_that_is_sold_abroad_counts_less(countries, lexicon):
    def domain(text):
        return [clue for clue in wording_clues(text, countries, lexicon) if clue.kind is ClueKind.DOMAIN]

    (sold,), (own,) = domain("www.zelloso.la"), domain("www.zelloso.lk")
    assert (set(sold.weights), set(own.weights)) == ({"LA"}, {"LK"})
    assert own.other < sold.other < 0.0
    assert domain("info@zelmor.me")
    assert domain("Take one home to me.So be it") == domain("zelloso.la") == []
    assert {code for clue in domain("www.zelmor.co.uk") for code in clue.weights} == {"GB"}


def test_a_brand_is_a_clue_unless_it_is_a_common_word(countries, lexicon):
    found = [clue for clue in wording_clues("EDEKA", countries, lexicon) if clue.kind is ClueKind.BRAND]
    assert found
    assert "DE" in found[0].weights
    for words in ("price coffee", "Correios"):
        assert not [c for c in wording_clues(words, countries, lexicon) if c.kind is ClueKind.BRAND]


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["vietato introdurre cani", "nell'area verde"], "IT"),
        (["Zakaz parkowania"], "PL"),
        (["Parken verboten"], "DE"),
        (["Stationnement interdit"], "FR"),
        (["いま ここ"], "JP"),
        (["请勿停车 欢迎光临"], "CN"),
        (["歡迎光臨 請勿停車"], "TW"),
        (["Không đỗ xe"], "VN"),
        (["Otopark yasaktır"], "TR"),
    ],
)
def test_the_wording_names_the_country(languages, reader, texts, code):
    clue = languages.clue(dict.fromkeys(texts, 1.0))
    assert clue.weight(code) > clue.weight("US") + 1.0
    belief = reader.weigher.weigh(reader.leads(dict.fromkeys(texts, 1.0)).clues, ())
    assert belief.country[0] == code


def test_text_without_letters_gives_no_language_clue(languages):
    assert languages.clue({"12:30": 1.0, "": 1.0, "!?": 1.0}) is None


def test_words_that_ocr_ran_together_are_split(lexicon):
    assert split_words("parkenverboten", lexicon) == ["parken", "verboten"]
    assert split_words("zelmorvatarne", lexicon) == ["zelmorvatarne"]
    assert split_words("haus", lexicon) == ["haus"]


def test_a_name_that_stands_alone_tells_more_than_one_in_a_street(mention_reader):
    alone = {m.name: m for m in mention_reader.mentions(["Wilhelmsburg"])}["wilhelmsburg"]
    street = {m.name: m for m in mention_reader.mentions(["Hotel Wilhelmsburg"])}["wilhelmsburg"]
    after_code = {m.name: m for m in mention_reader.mentions(["21107 Wilhelmsburg"])}["wilhelmsburg"]
    assert street.rate < alone.rate < after_code.rate


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Wilhelmsburg", "Rathaus"),
        ("Solrød Strand", "Station"),
        ("화천", "기차역"),
        ("بانه", "شهرداری"),
        ("பாபநாசம்", "நகராட்சி"),
        ("กระบี่", "สถานีรถไฟ"),
    ],
)
def test_a_name_at_a_station_or_a_town_hall_is_that_of_the_town(mention_reader, name, line):
    alone, above, beside = (
        {mention.name: mention for mention in found}[normalise(name)]
        for found in (
            mention_reader.mentions([name]),
            mention_reader.mentions([name], {name: ("Qwxzkj", line)}),
            mention_reader.mentions([f"{line} {name}"]),
        )
    )
    assert above.rate == beside.rate > alone.rate
    assert above.rate_elsewhere == beside.rate_elsewhere
    assert above.rate_elsewhere < alone.rate_elsewhere or not alone.words


@pytest.mark.parametrize(
    "text", ["Wilhelmsburg & Sohn", "Meier & Wilhelmsburg", "Wilhelmsburg y Hijos", "Wilhelmsburg, Lda"]
)
def test_the_name_of_an_owner_tells_less_than_that_of_a_town(mention_reader, text):
    alone, owner = (
        {m.name: m for m in mention_reader.mentions([line])}["wilhelmsburg"] for line in ("Wilhelmsburg", text)
    )
    assert owner.rate / owner.rate_elsewhere < alone.rate / alone.rate_elsewhere / 10


@pytest.mark.parametrize(("code", "country"), [("ZRH", "CH"), ("KIX", "JP"), ("GRU", "BR")])
def test_an_airport_code_beside_a_word_of_airports_is_the_airport(reader, code, country):
    leads = reader.leads({"Gate B 42": 1.0, f"{code} 10:45": 1.0})
    (found,) = [mention for mention in leads.mentions if mention.name == code.lower()]
    assert {match.place.country_code for match in found.matches} == {country}
    without = reader.weigher.weigh(leads.clues, ()).countries[country]
    assert reader.weigher.weigh(leads.clues, leads.mentions).countries[country] > 4 * without
    assert f"iata:{code}" in {match.place.id for match in found.matches}


def test_two_readings_of_one_word_are_one_mention(reader):
    def mentioned(*lines):
        return [mention.name for mention in reader.leads(dict.fromkeys(lines, 1.0)).mentions]

    assert len(mentioned("Wilhelmsburg", "Wilhelmsborg", "Wilhelnsburg")) == 1
    assert sorted(mentioned("Wilhelmsburg", "Rourkela")) == ["rourkela", "wilhelmsburg"]
    assert sorted(mentioned("Kharagpur", "খড়্গপুর")) == sorted(["kharagpur", normalise("খড়্গপুর")])


@pytest.mark.parametrize("text", ["BUS", "BAR", "TAX"])
def test_a_word_of_three_letters_is_no_airport_without_a_word_of_airports(reader, text):
    kinds = {m.place.kind for mention in reader.leads({text: 1.0}).mentions for m in mention.matches}
    assert "airport" not in kinds


def test_a_common_word_is_weaker_than_a_rare_one_as_the_name_of_a_town(mention_reader):
    found = {m.name: m for m in mention_reader.mentions(["welcome", "Rourkela"])}
    assert found["rourkela"].rate_elsewhere < 1e-5
    assert found["welcome"].rate_elsewhere > 1e-3


@pytest.mark.parametrize(
    ("text", "town"),
    [
        ("మంగళగిరి", "Mangalagiri"),
        ("अररिया", "Arāria"),
        ("நகராட்சி மன்னார்குடி", "Mannargudi"),
        ("কৃষ্ণনগর 12 km", "Krishnanagar"),
        ("ភូមិ ហាន់ជៃលើ", "Han Chey"),
    ],
)
def test_a_name_with_vowel_signs_is_one_name(mention_reader, text, town):
    found = mention_reader.mentions([text])
    assert town in {match.place.name for match in found[0].matches}


def test_the_name_of_a_town_counts_more_than_the_exchange_of_the_capital(weigh):
    """Most landlines of the capital are on signs there, but it has so many that others are all over the country."""
    belief = weigh("Vilcún", "+56 2 2123 6334")
    assert belief.places[0][0].name == "Vilcún"


@pytest.mark.parametrize(("town", "number"), [("Lisboa", "+351 21 123 4567"), ("Kraków", "+48 12 345 67 89")])
def test_a_number_of_its_exchange_never_speaks_against_a_town(weigh, town, number):
    alone, with_number = weigh(town, "Rathaus"), weigh(town, "Rathaus", number)
    point, _ = with_number.best_point()
    assert with_number.mass(point, 25.0) > alone.mass(point, 25.0)


def test_a_name_in_arabic_and_in_urdu_letters_is_read_once(data_store, countries):
    reader = ClueReader(data_store.gazetteer(), data_store.lexicon(), countries)
    (mention,) = reader.leads({"کراچی": 1.0, "كراچي": 1.0}).mentions
    assert mention.matches[0].place.name == "Karachi"


def test_a_short_name_is_found_in_a_long_line_without_spaces(mention_reader):
    found = mention_reader.mentions(["ร้านกาแฟสดและเบเกอรี่พัทยาและสินค้าของฝาก"])
    assert "Pattaya" in {match.place.name for mention in found for match in mention.matches}


def test_the_exchange_of_a_small_town_names_it(weigh):
    belief = weigh("+49 7556 92110")
    assert belief.places[0][1] > 0.5


def test_a_name_counts_more_in_its_town_than_in_a_quarter_of_the_next_one(weigh):
    """However telling it is: Untersiggenthal is in reach of Zürich, which has a quarter called Rathaus."""
    belief = weigh("Untersiggenthal", "Rathaus")
    (first, share), (second, other) = belief.places[:2]
    assert (first.name, second.name) == ("Untersiggenthal", "Zürich (Kreis 1) / Rathaus")
    assert share > 2 * other


@pytest.mark.parametrize("word", ["Kantor Pos", "Correios", "郵便局", "Rathaus"])
def test_a_name_beside_a_word_for_a_public_service_is_that_of_the_town(word):
    assert weight_beside("Negara", 0, 6, [word]) == TOWN_NAMED
    assert weight_beside("Negara", 0, 6, ["Zelmor"]) < TOWN_NAMED


def test_a_word_for_a_public_service_is_hardly_the_name_of_a_town():
    assert weight_beside("Rathaus", 0, 7) < 1.0 < weight_beside("Anadia", 0, 6)


def test_the_exchange_of_a_landline_names_its_town(gazetteer):
    town = phone_town("+390811234567", gazetteer)
    assert town is not None
    assert town.matches[0].place.country_code == "IT"
    assert phone_town("+4915112345678", gazetteer) is None
    assert phone_town("nonsense", gazetteer) is None


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("48°51'30\"N 2°17'40\"E", LatLon(lat=48.858, lon=2.294)),
        ("33.8568 S, 151.2153 E", LatLon(lat=-33.857, lon=151.215)),
        ("-22.9519, -43.2105", LatLon(lat=-22.952, lon=-43.211)),
    ],
)
def test_printed_coordinates_are_a_position(countries, text, point):
    (clue,) = [c for c in number_clues(text, countries) if c.kind is ClueKind.COORDINATES]
    assert distance_km(clue.point, point) < 1.0


def test_a_town_with_its_country_is_believed(reader):
    leads = reader.leads({"Stadt Rothenburg ob der Tauber": 1.0, "Parken verboten": 1.0})
    belief = reader.weigher.weigh(leads.clues, leads.mentions)
    point, worth = belief.best_point()
    assert distance_km(point, LatLon(lat=49.38, lon=10.18)) < 10
    assert worth > 0.5
    assert belief.country[0] == "DE"


@pytest.mark.parametrize(
    ("lines", "code", "region"),
    [
        (("மருந்தகம்", "திறந்திருக்கும்", "+91 98765 43210"), "IN", "Tamil Nadu"),
        (("ওষুধের দোকান", "খোলা আছে", "+91 98765 43210"), "IN", "West Bengal"),
        (("Stationnement interdit", "Défense de fumer", "www.zelmorvat.ca"), "CA", "Quebec"),
        (("Vietato fumare", "Aperto tutti i giorni", "www.zelmorvat.ch"), "CH", "Ticino"),
        (("Prohibit fumar", "Farmàcia de guàrdia", "Ajuntament", "www.zelmorvat.es"), "ES", "Catalonia"),
    ],
)
def test_the_language_shows_in_which_part_of_a_country_a_photo_was_taken(reader, gazetteer, lines, code, region):
    leads = reader.leads(dict.fromkeys(lines, 1.0))
    belief = reader.weigher.weigh(leads.clues, ())
    (town, _), *_ = gazetteer.nearest(belief.best_point()[0], limit=1)
    assert (belief.country[0], town.admin1) == (code, region)
    unmoved = tuple(clue.model_copy(update={"regions": {}}) for clue in leads.clues)
    assert belief.countries == pytest.approx(reader.weigher.weigh(unmoved, ()).countries)


def test_regional_shares_name_known_divisions_and_end_with_one_for_all_others():
    packed = importlib.resources.files("tts").joinpath("data/admin1.tsv.gz").read_bytes()
    rows = gzip.decompress(packed).decode().splitlines()
    for code, regions in tables().regional.items():
        named = {row.split("\t")[1] for row in rows if row.startswith(f"{code}.")}
        assert {name for region in regions for name in region.of} <= named
        assert [bool(region.of) for region in regions] == [True] * (len(regions) - 1) + [False]


def test_a_name_counts_as_the_town_if_its_word_is_of_a_language_not_spoken_there(reader):
    def share(*lines):
        leads = reader.leads(dict.fromkeys(lines, 1.0))
        belief = reader.weigher.weigh(leads.clues, leads.mentions)
        return sum(share for place, share in belief.places if place.name == "Călan")

    assert share("Călan", "www.zelmorvat.ro") > 0.5  # “çalan” is Turkish
    assert share("Călan", "www.zelmorvat.com.tr", "Ekmek ve süt", "Eczane") < 0.05


def test_a_town_whose_division_has_the_same_name_is_the_point(reader):
    leads = reader.leads({"8001 Zürich": 1.0})
    belief = reader.weigher.weigh(leads.clues, leads.mentions)
    assert (belief.places[0][0].name, belief.places[0][0].kind) == ("Zürich", "city")
    assert distance_km(belief.best_point()[0], belief.places[0][0].point) < 0.1


def test_a_belief_without_readings_is_spread_over_the_world(reader):
    belief = reader.weigher.weigh((), ())
    point, _ = belief.best_point()
    assert belief.mass(point, 750.0) < 0.22
    assert math.isclose(sum(belief.countries.values()), 1.0, abs_tol=1e-6)


def test_the_area_asked_for_bounds_the_belief(reader):
    leads = reader.leads({"Parken verboten": 1.0})
    belief = reader.weigher.weigh(leads.clues, leads.mentions, frozenset({"AT"}))
    assert set(belief.countries) == {"AT"}


@given(st.dictionaries(st.text(max_size=40), st.floats(0, 1), max_size=6))
def test_any_text_gives_a_belief(reader, lines):
    leads = reader.leads(lines)
    belief = reader.weigher.weigh(leads.clues, leads.mentions)
    point, worth = belief.best_point()
    assert -90 <= point.lat <= 90
    assert 0 <= worth <= 1 + 1e-6
    assert math.isclose(sum(belief.countries.values()), 1.0, abs_tol=1e-6)
    assert 0 <= belief.radius_km(point, 0.5) <= belief.radius_km(point, 0.9)


def test_a_doubtful_line_weighs_less():
    (clue,) = clues_for_countries(ClueKind.DOMAIN, "x.fr", "why", ["FR"], 4.0)
    assert clue.with_trust(0.5).other == -2.0
    assert clue.with_trust(1.0) is clue
    assert clues_for_countries(ClueKind.DOMAIN, "x", "why", [], 4.0) == ()
    assert Clue(kind=ClueKind.UNIT, quote="", why="").weight("FR") == 0.0


def test_the_tables_of_clues_name_only_known_countries(countries):
    known = set(countries.codes)
    found = tables()
    for codes in (*found.companies.values(), *found.currency_marks.values(), *found.currency_words.values()):
        assert set(codes) <= known
    assert set(found.photo_shares) <= known
    assert set(found.several_languages) <= known
