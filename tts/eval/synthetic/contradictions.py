"""Families without tool results, in which the photo, the sea or the borders contradict the majority."""

from __future__ import annotations

import random
from functools import partial
from typing import Literal

from tts.clues.signals import signals_in
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Claim
from tts.domain.trajectory import Trajectory
from tts.eval.synthetic.atlas import SIGNS, Atlas
from tts.eval.synthetic.cast import Cast, Family
from tts.eval.synthetic.rollout_events import RolloutWriter
from tts.eval.synthetic.rollout_kinds import belief, guesser, point_near
from tts.geodata.gazetteer import Place

Kind = Literal["phone", "postcode", "script", "domain", "language", "sea", "country"]


def contradicted_cast(atlas: Atlas, rng: random.Random, *, easy: bool, kind: Kind) -> Cast:
    """A majority agrees on a place that one plain fact rules out; the others fit that fact."""
    truth = _true_town(atlas, rng, kind)
    wrong = _wrong_town(atlas, rng, truth, kind)
    few = 2
    crowd_size = 1 if easy else (3 if kind in ("postcode", "script", "domain", "language") else rng.randint(3, 4))
    if kind in ("sea", "country"):
        where = atlas.at_sea(rng, wrong.point) if kind == "sea" else _third_country_point(atlas, rng, truth, wrong)
        crowd = [guesser(atlas, rng, wrong, point=point_near(rng, where, 2.0)) for _ in range(crowd_size)]
        return Cast(truth.point, [*(guesser(atlas, rng, truth) for _ in range(few)), *crowd], kind=kind)
    line = _line_of_kind(atlas, truth, kind)
    if kind == "language":
        trajectories = [_linguist_rollout(atlas, rng, town, line) for town in [truth] * few + [wrong] * crowd_size]
        return Cast(truth.point, trajectories, kind=kind)
    trajectories = [guesser(atlas, rng, town) for town in [truth] * few + [wrong] * crowd_size]
    return Cast(truth.point, trajectories, [line], kind=kind)


def contradiction(kind: Kind) -> Family:
    """The family of one kind of contradiction."""
    return partial(contradicted_cast, kind=kind)


def _true_town(atlas: Atlas, rng: random.Random, kind: Kind) -> Place:
    """A town in a country of which the kind of clue says something."""
    for _ in range(200):
        town = atlas.town(rng, country=rng.choice(sorted(set(SIGNS) & set(atlas.towns))) if kind == "script" else None)
        line = _line_of_kind(atlas, town, kind)
        if kind in ("sea", "country") or (
            line and (kind == "language" or town.country_code in _countries_of(line, atlas))
        ):
            return town
    raise ValueError(f"no country has a {kind}")


def _wrong_town(atlas: Atlas, rng: random.Random, truth: Place, kind: Kind) -> Place:
    """A far town that the clue really rules out: some postcodes have a shape that other countries share."""
    fitting = _countries_of(_line_of_kind(atlas, truth, kind), atlas)
    for _ in range(200):
        town = atlas.town(rng, away_from=truth)
        if town.country_code not in fitting:
            return town
    raise ValueError(f"a {kind} of {truth.country_code} fits everywhere")


def _countries_of(line: str, atlas: Atlas) -> set[str]:
    return {code for signal in signals_in([line], atlas.countries) for code in signal.countries}


def _line_of_kind(atlas: Atlas, town: Place, kind: Kind) -> str:
    code = town.country_code
    if kind == "phone":
        phone = atlas.phone(code)
        return f"Tel. {phone}" if phone else ""
    if kind == "postcode":
        postcode = atlas.postcode(code)
        letters = postcode is not None and any(char.isalpha() for char in postcode)  # shapes of few countries
        return f"postcode {postcode}" if letters else ""
    if kind == "domain":
        return atlas.domain(code) or ""
    if kind == "language":
        return _LANGUAGES.get(code, "")
    return SIGNS.get(code, "")


_LANGUAGES = {
    "HU": "Hungarian", "PL": "Polish", "FI": "Finnish", "TR": "Turkish", "VN": "Vietnamese", "IS": "Icelandic",
    "LT": "Lithuanian", "LV": "Latvian", "EE": "Estonian", "CZ": "Czech", "BG": "Bulgarian", "SI": "Slovenian",
}  # fmt: skip


def _linguist_rollout(atlas: Atlas, rng: random.Random, town: Place, language: str) -> Trajectory:
    """Names the language of the sign, and then a town that may or may not speak it."""
    claim = Claim(text=f"the sign is written in {language}")
    stated = point_near(rng, town.point, 6.0)
    answer = belief(atlas, town, stated, confidence=rng.uniform(0.7, 0.95), claims=[claim])
    return RolloutWriter().end(f"The sign is written in {language}. This is {town.name}.", answer)


def _third_country_point(atlas: Atlas, rng: random.Random, truth: Place, wrong: Place) -> LatLon:
    """A point in a third country: the majority names one country and points into another."""
    for _ in range(200):
        town = atlas.town(rng, away_from=wrong)
        if town.country_code != truth.country_code:
            return town.point
    raise ValueError("no third country is far enough away")
