import pytest

from tts.eval.metrics.name_agreement import PlaceNames


@pytest.fixture(scope="module")
def names(countries, gazetteer):
    return PlaceNames(countries, gazetteer)


@pytest.mark.parametrize(
    ("predicted", "truth", "country"),
    [
        ("Hefei", "Hefei City", "China"), ("合肥", "Hefei", "CN"), ("Qingdao", "青岛市", "中国"),
        ("Munich", "München", "Germany"), ("Köln", "Cologne", "DE"), ("Wien", "Vienna", "Austria"),
        ("Saint Petersburg", "Санкт-Петербург", "Russia"), ("Tel Aviv-Yafo", "Tel Aviv", "Israel"),
        ("Washington, D.C.", "Washington", "USA"), ("Saigon", "Ho Chi Minh City", "Viet Nam"),
        ("서울", "Seoul", "South Korea"), ("LYON", "lyon", ""), ("City of London", "London", "UK"),
    ],
)  # fmt: skip
def test_two_names_of_one_town_are_the_same_city(names, predicted, truth, country):
    assert names.same_city(predicted, truth, country)
    assert names.same_city(truth, predicted, country)


@pytest.mark.parametrize(
    ("predicted", "truth", "country"),
    [("Paris", "London", ""), ("", "London", ""), ("Unknown", "", ""), ("Springfield", "Chicago", "US"),
     ("Lyon", "Marseille", "France")],
)  # fmt: skip
def test_two_towns_are_not_the_same(names, predicted, truth, country):
    assert not names.same_city(predicted, truth, country)


@pytest.mark.parametrize(
    ("predicted", "truth"),
    [("中国", "China"), ("USA", "United States"), ("Deutschland", "germany"), ("Ελλάδα", "GR"), ("Türkiye", "Turkey"),
     ("Scotland, United Kingdom", "UK"), ("Россия", "Russian Federation")],
)  # fmt: skip
def test_two_names_of_one_country_are_the_same_country(names, predicted, truth):
    assert names.same_country(predicted, truth)


@pytest.mark.parametrize(("predicted", "truth"), [("", ""), ("", "France"), ("Taiwan", "China"), ("Niger", "Nigeria")])
def test_two_countries_are_not_the_same(names, predicted, truth):
    assert not names.same_country(predicted, truth)
