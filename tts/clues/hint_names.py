"""The places that a hint states. A name counts where the sentence says that it is where the photo was taken.

That is: the hint is the name; or the name stands whole after a word of place (“near Lugano”, “The answer is Kyiv”). A
sentence about people and a common word name no place, and of “Lake Maggiore” no part is taken for a town. When in doubt
nothing is taken. A question, and places between which the caller chooses none, are `asked`, not claimed. A sentence
that is only a denial (“not in Italy”) says where the photo was not taken. In any other sentence, a denied name is
ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tts.clues.clue_reader import ClueReader
from tts.decision_weights import weights
from tts.geodata.countries import Country
from tts.geodata.gazetteer import Place
from tts.geodata.names import normalise

_SENTENCE = re.compile(r"(?<=[.!?;:？。！])\s+|\n+")
_ALTERNATIVES = re.compile(r",? (?:or|nor|and) (?:in )?|, ?", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*|[,/&]|\d[\d.]*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEAR_WORDS = _words(
    "near nearby around beside outside close next près autour nahe bei neben vicino presso cerca perto"
)
_PLACE_WORDS = _NEAR_WORDS | _words("in at inside within en à au aux dans im am a ad nel nella em no na location place")
_STATEMENT_WORDS = _words("is it's ist est è es é probably")
_PHOTO_WORDS = _words("photo photograph picture image pic shot view taken postcard foto bild")
_SUBJECT_WORDS = _words("this that it be")
_QUESTION_WORDS = _SUBJECT_WORDS | _words("maybe perhaps possibly either vielleicht forse quizás peut-être")
_FILLER_WORDS = _words("to the of von de da di dos das der dem den la le les il lo los las el os o")
_JOINING_WORDS = _words("de del della di du des la le les of am an im sur sul upon the do da dos al")
_OR_WORDS = _words("or oder ou o oppure")
_AND_WORDS = _words("and und et e y , / &")
_DENIAL_WORDS = _words("""
not never neither nor without isn't wasn't don't doesn't isnt wasnt nicht kein keine nie pas non ne sin não nunca
""")
_DENIAL = re.compile(
    r"(?:(?:this|that|it|the|photo|photograph|picture|image|is|was|it's|that's|definitely|certainly|surely|taken"
    r"|shot) )*"
    r"(?P<word>not|isn't|isnt|wasn't|wasnt|outside) "
    r"(?:(?:taken|shot|in|at|inside|within|anywhere|from|of|the) )*(?P<places>\S.*)",
    re.IGNORECASE,
)
_PEOPLE_WORDS = _words("""
friend friends tourist tourists man woman boy girl guy people person family brother sister mother father son wife
husband daughter uncle aunt colleague boss neighbour neighbor traveller guest name named called sent gave wrote said
says live lives lived living born work works worked made bought written printed studied reply speak speaks
speaking write respond translate interested freund freundin ami amie amico amica amigo amiga wohne wohnt geboren
habite né nato vivo
""")
_W = weights("caller")
_COMMON_NAME_ZIPF = _W["common_name"]
_MIN_LARGE_POPULATION = _W["large_people"]
_MIN_KNOWN_POPULATION = _W["known_people"]
_MAX_CODE_LETTERS = int(_W["code_letters"])
_MIN_NAME_LETTERS = int(_W["name_letters"])
_MIN_NAMESAKE_RATIO = _W["namesakes"]


@dataclass(frozen=True, slots=True)
class StatedPlaces:
    """`names`: for each name the places that may be meant, the best known first; a country alone. `near`: the hint says
    near it; `asked`: a question, or several places of which only one can be right; `denied`: it is none of them."""

    names: tuple[tuple[Place, ...], ...]
    near: bool = False
    asked: bool = False
    denied: bool = False


def stated_in(text: str, reader: ClueReader) -> StatedPlaces | None:
    """What a hint states; None where it states no place."""
    names = _Names(reader)
    if whole := names.resolve(text.strip(" .!,")):
        return StatedPlaces((whole,))
    sentences = _SENTENCE.split(text)
    denials = {sentence: places for sentence in sentences if (places := _denied_places(sentence, names))}
    stated = (_places_in_sentence(sentence, names) for sentence in sentences if sentence not in denials)
    found = [one for one in stated if one is not None]
    if not found:
        denied = tuple(dict.fromkeys(name for places in denials.values() for name in places))
        return StatedPlaces(denied, denied=True) if denied else None
    joined = _narrow_down([name for stated in found for name in stated.names])
    return StatedPlaces(joined, any(s.near for s in found), len(joined) > 1 or any(s.asked for s in found))


def _denied_places(sentence: str, names: _Names) -> tuple[tuple[Place, ...], ...]:
    """The places of a plain denial; “outside Rome” is near Rome, “outside Italy” is not in Italy."""
    matched = _DENIAL.fullmatch(" ".join(sentence.replace("’", "'").split()).strip(" .!,"))
    if matched is None:
        return ()
    whole = names.resolve(matched["places"])
    parts = [whole] if whole else [names.resolve(part) for part in _ALTERNATIVES.split(matched["places"])]
    towns = [part for part in parts if part and part[0].kind not in ("country", "admin1")]
    if not all(parts) or (towns and matched["word"].lower() == "outside"):
        return ()
    return tuple(parts)


def _places_in_sentence(sentence: str, names: _Names) -> StatedPlaces | None:
    tokens = _TOKEN.findall(sentence)
    words = [token.lower().replace("’", "'") for token in tokens]
    question = sentence.rstrip().endswith(("?", "？"))
    if (
        _DENIAL_WORDS & set(words) or words[:1] == ["no"] or _PEOPLE_WORDS & set(words)
    ):  # a “no” within is Portuguese “in”
        return None
    near = asked = False
    found: list[tuple[Place, ...]] = []
    for at, start in _name_starts(words, question=question):
        listed, several = _listed_names(tokens, start, names)
        if listed:
            asked = asked or question or several or words[at] in _QUESTION_WORDS
            near = near or words[at] in _NEAR_WORDS
        found += listed
    if not found:
        found, asked = _listed_names(tokens, 0, names)
        if not asked:
            return None
    return StatedPlaces(_narrow_down(found), near, asked) if found else None


def _name_starts(words: Sequence[str], *, question: bool) -> Iterator[tuple[int, int]]:
    """Where a word of place stands, and where a name after it would begin."""
    for at, word in enumerate(words):
        from_there = word in ("from", "aus") and (at == 0 or words[at - 1] in _PHOTO_WORDS)
        asked = word in _QUESTION_WORDS and (question or word not in _SUBJECT_WORDS)
        if word in _PLACE_WORDS or word in _STATEMENT_WORDS or from_there or asked:
            start = at + 1
            while start < len(words) and words[start] in _FILLER_WORDS:
                start += 1
            yield at, start


def _listed_names(tokens: Sequence[str], start: int, names: _Names) -> tuple[list[tuple[Place, ...]], bool]:
    """The names from `start` on, and whether an “or” stands between them."""
    found: list[tuple[Place, ...]] = []
    several, before = False, ""
    while start < len(tokens):
        end, places = _longest_name(tokens, start, names)
        if end == start or not (places or found):
            break
        name = " ".join(tokens[start:end])
        if before and tokens[start - 1] == "," and (inside := names.resolve(f"{before}, {name}")):
            found[-1] = inside
        elif places:
            found.append(places)
        before = name
        if end >= len(tokens) or tokens[end].lower() not in _OR_WORDS | _AND_WORDS:
            break
        several = several or tokens[end].lower() in _OR_WORDS
        start = end + 1
        if start < len(tokens) and tokens[start].lower() in _OR_WORDS:
            several, start = True, start + 1
    return found, several


def _longest_name(tokens: Sequence[str], start: int, names: _Names) -> tuple[int, tuple[Place, ...]]:
    """Where the name from `start` on ends, and its places; “and” belongs to it where such a name is known."""
    end, far = _end_of_name(tokens, start, _JOINING_WORDS), _end_of_name(tokens, start, _JOINING_WORDS | {"and", "&"})
    if far > end and (places := names.resolve(" ".join(tokens[start:far]))):
        return far, places
    return end, names.resolve(" ".join(tokens[start:end])) if end > start else ()


def _end_of_name(tokens: Sequence[str], start: int, joined: frozenset[str]) -> int:
    """Capital letters distinguish names from words; a name may contain small words."""
    end = at = start
    while at < len(tokens):
        if _is_name(tokens[at]):
            end = at + 1
        elif at == start or tokens[at].lower() not in joined:
            break
        at += 1
    return end


def _is_name(token: str) -> bool:
    return token[0].isalpha() and not token[0].islower()


def _narrow_down(found: Sequence[tuple[Place, ...]]) -> tuple[tuple[Place, ...], ...]:
    """Towns inside the countries and divisions that stand beside them; those then say nothing more."""
    wider = [name[0] for name in found if name[0].kind in ("country", "admin1")]
    finer = [name for name in found if name[0].kind not in ("country", "admin1")]
    kept = [(tuple(place for place in name if any(_lies_inside(place, one) for one in wider)), name) for name in finer]
    if wider and any(inside for inside, _ in kept):
        return tuple(inside for inside, _ in kept if inside)
    divisions = [n for n in found if n[0].kind == "admin1" and any(_lies_inside(n[0], one) for one in wider)]
    return tuple(dict.fromkeys(divisions or found))


def _lies_inside(place: Place, wider: Place) -> bool:
    if wider.id == place.id or place.country_code != wider.country_code:
        return False
    return wider.kind == "country" or (place.kind != "admin1" and place.admin1 == wider.name)


class _Names:
    """Complete names of places, in the spelling of a person who means the place."""

    def __init__(self, reader: ClueReader) -> None:
        self._reader = reader

    def resolve(self, text: str) -> tuple[Place, ...]:
        """The places of a name; of “Paris, Texas” and “Lugano Switzerland” those in the second part."""
        if not text or len(text) > 100:
            return ()
        if found := self._places_with_name(text):
            return found
        words = [word for word in re.split(r"[\s,]+", text) if word]
        for at in range(1, len(words)):
            around = self._places_with_name(" ".join(words[at:]))
            if around and around[0].kind in ("country", "admin1"):
                inside = self._find_matches(" ".join(words[:at]))
                if kept := tuple(place for place in inside if any(_lies_inside(place, one) for one in around)):
                    return self._best_known(kept)
        return ()

    def _places_with_name(self, name: str) -> tuple[Place, ...]:
        country = self._find_country(name) if len(name) > _MAX_CODE_LETTERS or name.isupper() else None
        places = self._find_matches(name)
        if country is not None:
            elsewhere = [p for p in places if p.kind == "admin1" and p.country_code != country.code]
            found = self._reader.gazetteer.search(country.name, kinds=("country",), limit=1, fuzzy=False)
            return () if elsewhere else tuple(match.place for match in found)
        large = max((place.population for place in places if place.kind != "admin1"), default=0)
        divisions = any(place.kind == "admin1" for place in places)
        usual = self._reader.zipf_of_name(name) >= _COMMON_NAME_ZIPF
        return () if usual and large < _MIN_LARGE_POPULATION and not divisions else self._best_known(places)

    def _find_country(self, name: str) -> Country | None:
        find = self._reader.countries.find
        return find(name) or find(re.sub(r"\band\b", "&", name))

    def _find_matches(self, name: str) -> tuple[Place, ...]:
        """Another spelling than its own is that of a place that many know."""
        if len(normalise(name)) < _MIN_NAME_LETTERS and name.isascii():
            return ()
        found = self._reader.gazetteer.search(name, kinds=("city", "admin1"), limit=24, fuzzy=False)
        least = max(
            (m.place.population for m in found if m.primary and m.place.kind == "city"), default=_MIN_KNOWN_POPULATION
        )
        return tuple(m.place for m in found if m.primary or m.place.kind == "admin1" or m.place.population >= least)

    def _best_known(self, places: Sequence[Place]) -> tuple[Place, ...]:
        share = self._reader.weigher.priors.photo_share
        ranked = sorted(places, key=lambda place: (-share(place), place.id))
        kept = [place for place in ranked if share(place) >= _MIN_NAMESAKE_RATIO * share(ranked[0])]
        towns = [
            p for p in ranked if p.kind == "city" and any(_lies_inside(p, one) for one in kept if one.kind == "admin1")
        ]
        return tuple(dict.fromkeys([*towns[:1], *kept]))
