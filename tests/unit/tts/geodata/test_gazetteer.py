"""The embedded gazetteer against places everybody can check."""

import gc
import random
import shutil
import string
import weakref

import psutil
import pytest

from tts.domain.geo import LatLon, distance_km, sphere_km, unit_vectors
from tts.geodata.gazetteer import Gazetteer
from tts.geodata.store import DataStore

TOWNS = [
    ("Wilhelmsburg", "DE"), ("Rourkela", "IN"), ("Salatiga", "ID"), ("Coimbra", "PT"), ("Himeji", "JP"),
    ("Grindelwald", "CH"), ("Toulouse", "FR"), ("Kraków", "PL"), ("Valparaíso", "CL"), ("Tromsø", "NO"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "country"), TOWNS)
def test_towns_are_found_by_name(gazetteer, name, country):
    best = gazetteer.search(name, limit=1)[0]
    assert (best.place.country_code, best.score) == (country, 1.0)


@pytest.mark.parametrize(
    ("name", "place", "country"),
    [
        ("Москва", "Moscow", "RU"), ("東京", "Tokyo", "JP"), ("서울", "Seoul", "KR"), ("القاهرة", "Cairo", "EG"),
        ("กรุงเทพ", "Bangkok", "TH"), ("Αθήνα", "Athens", "GR"), ("München", "Munich", "DE"), ("Praha", "Prague", "CZ"),
        ("Deutschland", "Germany", "DE"), ("日本", "Japan", "JP"), ("Suomi", "Finland", "FI"),
    ],
)  # fmt: skip
def test_places_are_found_by_names_in_their_own_language_and_script(gazetteer, name, place, country):
    best = gazetteer.search(name, limit=1)[0].place
    assert (best.name, best.country_code) == (place, country)


@pytest.mark.parametrize("max_km", [60.0, 400.0])
def test_people_are_those_of_the_nearest_towns(gazetteer, max_km):
    chance = random.Random(7)
    for _ in range(200):
        point = LatLon(lat=chance.uniform(-60, 75), lon=chance.uniform(-180, 179))
        near = gazetteer.nearest(point, limit=60, max_km=max_km)
        assert gazetteer.people_near(point, max_km=max_km, towns=60) == sum(place.population for place, _ in near)


@pytest.mark.parametrize("query", ["Gare de Lyon", "Via Roma 12", "Café de Paris", "STOP AHEAD", "Musée d'Orsay"])
def test_names_of_streets_and_buildings_find_no_place(gazetteer, query):
    """Only whole names match: no namesake town for a street, a station or a museum."""
    assert gazetteer.search(query) == []


def test_a_country_filter_finds_the_small_namesake(gazetteer):
    paris = gazetteer.search("Paris", countries=["US"], limit=3)
    assert {match.place.country_code for match in paris} == {"US"}
    assert gazetteer.search("Paris", countries=["JP"], fuzzy=False) == []


def test_larger_places_come_first_and_alternates_below_primaries(gazetteer):
    found = gazetteer.search("Cairo", limit=5)
    assert found[0].place.country_code == "EG"
    assert found[0].primary
    populations = [match.place.population for match in found if match.score == found[0].score]
    assert populations == sorted(populations, reverse=True)


def test_misspelt_names_are_found(gazetteer):
    rng = random.Random(5)
    names = [gazetteer._name(i) for i in rng.sample(range(len(gazetteer._arrays["name_best"])), 20000)]
    asked = hit = 0
    for name in names:
        place, primary = gazetteer._places_with_name(gazetteer._name_id(name))[0]
        if not primary or not name.isascii() or len(name) < 7 or gazetteer._arrays["population"][place] < 15000:
            continue
        at = rng.randrange(1, len(name) - 1)
        typo = rng.choice([name[:at] + name[at + 1 :], name[:at] + rng.choice(string.ascii_lowercase) + name[at + 1 :]])
        asked += 1
        hit += any(match.matched == name for match in gazetteer.search(typo, limit=5))
        if asked == 200:
            break
    assert hit / asked >= 0.95


def test_names_are_found_in_the_letters_of_a_neighbouring_language(gazetteer):
    """Recognisers of Arabic read Urdu and Persian with Arabic letters."""
    for read in ("لاليان", "لالیان"):
        (match, *_) = gazetteer.search(read, fuzzy=False)
        assert (match.place.name, match.place.country_code) == ("Lalian", "PK")


def test_suggestions_complete_a_prefix(gazetteer):
    assert gazetteer.suggest("rourk", limit=1)[0].place.name == "Rourkela"
    assert {match.place.country_code for match in gazetteer.suggest("wil", countries=["DE"], limit=8)} == {"DE"}
    assert gazetteer.suggest("") == []
    assert len(gazetteer.suggest("s", limit=10)) == 10


@pytest.mark.parametrize(
    ("lat", "lon", "town"),
    [
        (48.583, 7.745, "Strasbourg"),
        (-54.80, -68.30, "Ushuaia"),
        (21.31, -157.86, "Honolulu"),
        (64.15, -21.94, "Reykjavík"),
    ],
)
def test_the_nearest_town_is_found(gazetteer, lat, lon, town):
    (place, km), *_ = gazetteer.nearest(LatLon(lat=lat, lon=lon), limit=3, min_population=10000)
    assert place.name == town
    assert km < 15


@pytest.mark.parametrize("point", [(51.0, 0.02), (-17.7, 179.99), (69.65, 18.95), (35.0, 135.7), (-33.4, -70.6)])
def test_nearest_agrees_with_looking_at_every_place(gazetteer, point):
    here = LatLon(lat=point[0], lon=point[1])
    (place, km), *_ = gazetteer.nearest(here, limit=1)
    towns = gazetteer.columns()[1] == 0
    sphere = sphere_km(here, unit_vectors(*(axis[towns].astype(float) for axis in gazetteer.positions())))
    assert km == pytest.approx(float(sphere.min()), abs=1e-6)
    assert distance_km(here, place.point) == pytest.approx(km, rel=0.01, abs=0.01)


def test_no_town_is_near_a_point_in_the_middle_of_an_ocean(gazetteer):
    assert gazetteer.nearest(LatLon(lat=-48.9, lon=-123.4), max_km=300) == []


def test_places_are_found_again_by_id(gazetteer):
    match = gazetteer.search("Coimbra", limit=1)[0]
    assert gazetteer.get(match.place.id) == match.place
    assert gazetteer.get("gn:0") is None


def test_a_gazetteer_that_nobody_uses_any_more_is_freed(data_store):
    """A process that opens many (a test run, a notebook) would keep the files and caches of each."""
    opened = Gazetteer(data_store.root / "gazetteer")
    town = opened.search("Bellinzona", limit=1)[0].place
    assert opened.nearest_named("Bellinzona", LatLon(lat=46.2, lon=9.0), within_km=10)
    assert opened.division_of(town).population > 0
    reference = weakref.ref(opened)
    del opened
    gc.collect()
    assert reference() is None


def test_all_parts_of_a_process_share_one_gazetteer_until_it_is_built_again(data_store, tmp_path):
    for name in ("gazetteer", "lexicon", "maps"):
        shutil.copytree(data_store.root / name, tmp_path / name)
    store = DataStore(tmp_path)
    process = psutil.Process()
    before = process.num_fds()
    used = [(store.gazetteer(), store.lexicon(), store.cartographer()) for _ in range(5)]
    assert len({id(part) for parts in used for part in parts}) == 3
    assert used[0][2].gazetteer is used[0][0] is DataStore(tmp_path).gazetteer()
    assert process.num_fds() - before < 100
    shutil.rmtree(tmp_path / "gazetteer")
    shutil.copytree(data_store.root / "gazetteer", tmp_path / "gazetteer", copy_function=shutil.copy)
    assert store.gazetteer() is not used[0][0]
    assert store.cartographer().gazetteer is not used[0][0]
    assert store.gazetteer().search("Bellinzona", limit=1)
