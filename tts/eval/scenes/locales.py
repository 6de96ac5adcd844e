"""Which languages are written where, and in which script: the combinations that scenes are made of.

`divisions` restricts a language to the GeoNames first-order divisions of a country in which signs are written in it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SceneLocale:
    """`language` names a word list, `script` is an ISO 15924 code, `babel` a CLDR locale for formats."""

    language: str
    script: str
    country: str
    divisions: tuple[str, ...] = ()

    @property
    def babel(self) -> str:
        """The CLDR locale, such as `de_AT`."""
        return f"{self.language}_{self.country}"


# language: (script, countries); divisions follow a country after a colon.
_LOCALE_TABLE = {
    "en": ("Latn", "GB IE US AU NZ ZA NG KE GH CA:08,02,01"),
    "fr": ("Latn", "FR BE:WAL CH:GE,VD,NE,JU CA:10 SN CI"),
    "de": ("Latn", "DE AT CH:ZH,BE,LU,SG,AG"),
    "es": ("Latn", "ES MX AR CO PE CL UY EC BO"),
    "it": ("Latn", "IT CH:TI"),
    "pt": ("Latn", "PT BR AO MZ"),
    "nl": ("Latn", "NL BE:VLG"),
    "sv": ("Latn", "SE"),
    "da": ("Latn", "DK"),
    "nb": ("Latn", "NO"),
    "fi": ("Latn", "FI"),
    "pl": ("Latn", "PL"),
    "cs": ("Latn", "CZ"),
    "hu": ("Latn", "HU"),
    "ro": ("Latn", "RO MD"),
    "tr": ("Latn", "TR"),
    "vi": ("Latn", "VN"),
    "id": ("Latn", "ID"),
    "ru": ("Cyrl", "RU KZ KG BY"),
    "uk": ("Cyrl", "UA"),
    "bg": ("Cyrl", "BG"),
    "sr": ("Cyrl", "RS"),
    "el": ("Grek", "GR CY"),
    "ka": ("Geor", "GE"),
    "hy": ("Armn", "AM"),
    "he": ("Hebr", "IL"),
    "ar": ("Arab", "EG MA SA JO AE DZ TN IQ"),
    "fa": ("Arab", "IR"),
    "ur": ("Arab", "PK"),
    "hi": ("Deva", "IN:36,35,34,24,10"),
    "bn": ("Beng", "BD IN:28"),
    "ta": ("Taml", "IN:25"),
    "te": ("Telu", "IN:02,40"),
    "si": ("Sinh", "LK"),
    "th": ("Thai", "TH"),
    "lo": ("Laoo", "LA"),
    "km": ("Khmr", "KH"),
    "my": ("Mymr", "MM"),
    "am": ("Ethi", "ET"),
    "ko": ("Hang", "KR"),
    "ja": ("Jpan", "JP"),
    "zh": ("Hans", "CN"),
    "zh_Hant": ("Hant", "TW"),
}


def _load_locales() -> tuple[SceneLocale, ...]:
    made = []
    for language, (script, places) in _LOCALE_TABLE.items():
        for place in places.split():
            country, _, divisions = place.partition(":")
            made.append(SceneLocale(language, script, country, tuple(filter(None, divisions.split(",")))))
    return tuple(made)


LOCALES = _load_locales()
SCRIPTS = tuple(dict.fromkeys(locale.script for locale in LOCALES))
