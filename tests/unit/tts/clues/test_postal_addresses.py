"""Postal addresses in lines of text, as a geocoder wants them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.clues.postal_addresses import addresses
from tts.domain.photo import Box
from tts.domain.reading import TextLine


def line(text, *, x=(0.1, 0.5), y=0.1, confidence=0.95):
    return TextLine(text=text, box=Box(x0=x[0], y0=y, x1=x[1], y1=y + 0.05), confidence=confidence)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Bahnhofstrasse 5, 8001 Zürich", "Bahnhofstrasse 5, 8001 Zürich"),
        ("12 Rue Victor Hugo 69002 Lyon", "12 Rue Victor Hugo, 69002 Lyon"),
        ("Via Roma 5 - 50123 Firenze", "Via Roma 5, 50123 Firenze"),
        ("ul. Marszałkowska 10/16, 00-590 Warszawa", "ul. Marszałkowska 10/16, 00-590 Warszawa"),
        ("Prinsengracht 263-267, 1016 GV Amsterdam", "Prinsengracht 263-267, 1016 GV Amsterdam"),
        ("Drottninggatan 5 111 51 Stockholm", "Drottninggatan 5, 111 51 Stockholm"),
        ("No. 5 MG Road, Chennai - 600 001", "5 MG Road, Chennai - 600 001"),
        ("221B Baker Street, London NW1 6XE", "221B Baker Street, London NW1 6XE"),
        ("5 Main Street Springfield, IL 62701", "5 Main Street, Springfield, IL 62701"),
        ("東京都千代田区丸の内1-9-1", "東京都千代田区丸の内1-9-1"),
        ("北京市朝阳区建国路88号", "北京市朝阳区建国路88号"),
        ("서울특별시 종로구 세종대로 110", "서울특별시 종로구 세종대로 110"),
    ],
)
def test_an_address_is_read_with_its_town(text, address):
    (found,) = addresses([line(text)])
    assert (found.text, found.placed, found.quote) == (address, True, text)


@pytest.mark.parametrize("text", ["Hauptstraße 12", "ul. Długa 7", "улица Ленина, 5", "12, rue de la Paix"])
def test_a_street_alone_names_no_town(text):
    (found,) = addresses([line(text)])
    assert found.text == text
    assert not found.placed


@pytest.mark.parametrize(
    "text", ["Hotel Roma 5", "place 2", "open 7 days a week", "Abbey Road 12.50", "50 m Straße", "8001"]
)
def test_text_that_is_no_address_gives_no_address(text):
    assert addresses([line(text)]) == ()


def test_the_town_may_stand_below_its_street():
    sign = [line("Kirchgasse 3"), line("8001 Zürich", y=0.16), line("22085 Hamburg", y=0.8)]
    assert [address.text for address in addresses(sign)] == ["Kirchgasse 3, 8001 Zürich"]


def test_a_town_elsewhere_in_the_photo_is_not_that_of_the_street():
    sign = [line("Kirchgasse 3"), line("22085 Hamburg", y=0.8), line("8001 Zürich", x=(0.7, 0.9), y=0.16)]
    assert [address.placed for address in addresses(sign)] == [False]


def test_a_line_read_with_low_confidence_gives_no_address():
    assert addresses([line("Kirchgasse 3", confidence=0.5)]) == ()


@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_lines_give_addresses_that_quote_one_of_them(texts):
    assert all(address.quote in texts for address in addresses([line(text) for text in texts]))
