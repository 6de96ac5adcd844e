import pytest

from tts.eval.metrics.name_agreement import PlaceNames


@pytest.fixture(scope="module")
def names(countries, gazetteer):
    return PlaceNames(countries, gazetteer)


@pytest.mark.parametrize(
    ("said", "truth", "country"),
    [
        ("Hefei", "Hefei City", "China"), ("合肥", "Hefei", "CN"), ("Qingdao", "青岛市", "中国"),
        ("Munich", "München", "Germany"), ("Köln", "Cologne", "DE"), ("Wien", "Vienna", "Austria"),
        ("Saint Petersburg", "Санкт-Петербург", "Russia"), ("Tel Aviv-Yafo", "Tel Aviv", "Israel"),
        ("Washington, D.C.", "Washington", "USA"), ("Saigon", "Ho Chi Minh City", "Viet Nam"),
        ("서울", "Seoul", "South Korea"), ("LYON", "lyon", ""), ("City of London", "London", "UK"),
    ],
)  # fmt: skip
def test_one_town_under_two_names(names, said, truth, country):
    assert names.same_city(said, truth, country)
    assert names.same_city(truth, said, country)


@pytest.mark.parametrize(
    ("said", "truth", "country"),
    [("Paris", "London", ""), ("", "London", ""), ("Unknown", "", ""), ("Springfield", "Chicago", "US"),
     ("Lyon", "Marseille", "France")],
)  # fmt: skip
def test_two_towns_are_not_the_same(names, said, truth, country):
    assert not names.same_city(said, truth, country)


@pytest.mark.parametrize(
    ("said", "truth"),
    [("中国", "China"), ("USA", "United States"), ("Deutschland", "germany"), ("Ελλάδα", "GR"), ("Türkiye", "Turkey"),
     ("Scotland, United Kingdom", "UK"), ("Россия", "Russian Federation")],
)  # fmt: skip
def test_one_country_under_two_names(names, said, truth):
    assert names.same_country(said, truth)


@pytest.mark.parametrize(("said", "truth"), [("", ""), ("", "France"), ("Taiwan", "China"), ("Niger", "Nigeria")])
def test_two_countries_are_not_the_same(names, said, truth):
    assert not names.same_country(said, truth)
