"""Signs that mislead: each names something that points away from the true place, beside a little that points to it.

Five kinds, each for one rule of the embedded engine (`tts.clues.rule`): a street called after another town, English for
visitors, a distant place's name on a shop, food in its own language, and wording that many countries share.
"""

from __future__ import annotations

from tts.eval.scenes import sign_numbers
from tts.eval.scenes.ambiguity import countries_by_wording
from tts.eval.scenes.locales import LOCALES
from tts.eval.scenes.templates import Line, Panel, Setting, Template
from tts.eval.scenes.towns import towns_of
from tts.eval.scenes.words import words_for

# How a language calls a street after a town; `{}` is the town's name.
STREETS = {
    "en": "{} Road", "fr": "Rue de {}", "de": "{}er Straße", "es": "Calle {}", "it": "Via {}", "pt": "Rua de {}",
    "ro": "Strada {}", "tr": "{} Caddesi", "hu": "{}i utca", "id": "Jalan {}", "vi": "Đường {}", "cs": "Ulice {}",
    "ru": "улица {}", "uk": "вул. {}", "bg": "ул. {}", "sr": "улица {}", "el": "Οδός {}", "ar": "شارع {}",
    "he": "רחוב {}", "fa": "خیابان {}", "ur": "{} روڈ", "th": "ถนน{}", "lo": "ຖະໜົນ{}", "km": "ផ្លូវ{}",
    "my": "{}လမ်း", "ja": "{}通り", "zh": "{}路", "zh_Hant": "{}路", "hi": "{} मार्ग", "bn": "{} রোড",
    "ta": "{} சாலை", "si": "{} පාර", "te": "{} రోడ్డు", "ka": "{} ქუჩა", "hy": "{} փողոց",
}  # fmt: skip
# Food that is called so abroad, by its language; of each list the first half is for `dev`.
_FOODS_BY_LANGUAGE = {
    "fr": ("Boulangerie", "Crêperie", "Bistro", "Pâtisserie", "Brasserie", "Fromagerie"),
    "it": ("Pizzeria", "Gelateria", "Espresso", "Trattoria", "Osteria", "Ristorante"),
    "es": ("Tapas", "Tacos", "Taquería", "Empanadas"),
    "tr": ("Döner", "Baklava", "Lahmacun", "Kebap"),
    "de": ("Biergarten", "Bratwurst", "Konditorei", "Schnitzel"),
}
_MAX_FAMOUS_TOWNS = 24  # towns of a country that are called so on shops far away


def street_called_after_a_town(s: Setting) -> Panel | None:
    """A shop in a street that has the name of another town of the country."""
    form, others = STREETS.get(s.locale.language), [town for town in towns_of(s.locale) if town.id != s.town.id]
    if form is None or not others:
        return None
    street = form.format(s.rng.choice(others).name)
    return _shop_panel(s, Line(s.rng.choice(s.words.shop), 1.2), Line(street, 0.8, 0.2))


def english_for_visitors(s: Setting) -> Panel | None:
    """Three English lines, where English is not written otherwise. None where it is."""
    if s.locale.country in countries_by_wording("en") or s.locale.language == "en":
        return None
    english = words_for("en", s.split)
    chosen = s.rng.choice(english.shop), *s.rng.sample(english.notice, 2)
    return _shop_panel(s, *(Line(text, 1.0, 0.15) for text in chosen))


def distant_name_on_a_shop(s: Setting) -> Panel | None:
    """A shop that is called after a town of another country and language, in Latin letters."""
    abroad = [locale for locale in LOCALES if locale.country != s.locale.country and locale.language != "en"]
    towns = towns_of(s.rng.choice([locale for locale in abroad if locale.language != s.locale.language]))
    if not towns:
        return None
    kind = s.rng.choice(("Restaurant", "Café", "Hotel", "Grill"))
    name = s.rng.choice(towns[:_MAX_FAMOUS_TOWNS]).latin
    return _shop_panel(s, Line(f"{kind} {name}", 1.4) if s.rng.random() < 0.5 else Line(f"{name} {kind}", 1.4))


def food_in_its_own_language(s: Setting) -> Panel | None:
    """Food of a foreign cuisine, with one of its goods in the same language."""
    language = s.rng.choice([tag for tag in _FOODS_BY_LANGUAGE if tag != s.locale.language])
    if s.locale.country in countries_by_wording(language):
        return None
    words = _FOODS_BY_LANGUAGE[language]
    half = len(words) // 2
    name = s.rng.choice(words[:half] if s.split == "dev" else words[half:])
    return _shop_panel(s, Line(name, 1.5), Line(s.rng.choice(words_for(language, s.split).goods), 0.8, 0.2))


def wording_of_many_countries(s: Setting) -> Panel | None:
    """A shop and a notice in a language of several countries, and nothing else. None for other languages."""
    if sum(locale.language == s.locale.language for locale in LOCALES) < 2:
        return None
    lines = (Line(s.rng.choice(s.words.shop), 1.3), Line(s.rng.choice(s.words.notice), 0.8, 0.3))
    return Panel(lines, "shop", "language", (s.wording,), 2.0)


def _shop_panel(s: Setting, *lines: Line) -> Panel:
    """These lines, and the only one that points home: a notice in the country's language, or its web address."""
    if s.rng.random() < 0.5:
        return Panel((*lines, Line(s.rng.choice(s.words.notice), 0.7, 0.3)), "shop", "language", (s.wording,), 1.8)
    return Panel((*lines, Line(sign_numbers.web_address(s.locale, s.rng), 0.6, 0.3)), "shop", "domain", (s.home,), 1.8)


MISLEADING: tuple[Template, ...] = (
    street_called_after_a_town, english_for_visitors, distant_name_on_a_shop, food_in_its_own_language,
    wording_of_many_countries,
)  # fmt: skip
