import pytest

from tts.domain.geo import LatLon


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Deutschland", "DE"), ("Allemagne", "DE"), ("Германия", "DE"), ("ドイツ", "DE"), ("USA", "US"), ("us", "US"),
        ("United Kingdom", "GB"), ("England", "GB"), ("Reunion (France)", "RE"), ("Côte d’Ivoire", "CI"), ("TUR", "TR"),
        ("Türkiye", "TR"), ("مصر", "EG"), ("ไทย", "TH"),
    ],
)  # fmt: skip
def test_a_country_is_found_by_names_aliases_and_codes(countries, name, code):
    found = countries.find(name)
    assert found is not None
    assert found.code == code


@pytest.mark.parametrize("name", ["", "Atlantis", "zz", "Paris", "the"])
def test_a_name_that_is_no_country_finds_no_country(countries, name):
    assert countries.find(name) is None


@pytest.mark.parametrize(
    ("lat", "lon", "code"),
    [
        (48.584, 7.745, "FR"), (48.573, 7.815, "DE"), (43.737, 7.42, "MC"), (22.3, 114.17, "HK"), (26.21, 127.68, "JP"),
        (54.71, 20.45, "RU"), (-21.1, 55.5, "RE"), (35.9, 14.5, "MT"), (40.7, -74.0, "US"), (0.0, -30.0, None),
        (21.01, 105.85, "VN"), (16.07, 108.2, "VN"), (18.79, 98.98, "TH"), (17.4, 104.78, "TH"), (17.97, 102.6, "LA"),
    ],
)  # fmt: skip
def test_the_country_at_a_point_is_found(countries, lat, lon, code):
    found = countries.country_at(LatLon(lat=lat, lon=lon))
    assert (found.code if found else None) == code


def test_a_country_has_its_capital_currency_codes_and_neighbours(countries):
    japan = countries.get("jp")
    assert (japan.capital, japan.currency, japan.phone, japan.tld, japan.languages[0]) == (
        "Tokyo",
        "JPY",
        "81",
        ".jp",
        "ja",
    )
    assert "IT" in countries.get("FR").neighbours
    assert "deutschland" in countries.names("DE")
