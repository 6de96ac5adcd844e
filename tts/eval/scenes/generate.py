"""Generates scenes from a seed: it plans them first, and draws each when its bytes are needed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import orjson

from tts.errors import DataError
from tts.eval.sample import Sample, Truth, sample_id
from tts.eval.scenes.ambiguity import common
from tts.eval.scenes.draw import draw_scene
from tts.eval.scenes.fonts import FontShelf
from tts.eval.scenes.locales import LOCALES, SceneLocale
from tts.eval.scenes.misleading_signs import MISLEADING
from tts.eval.scenes.templates import CLUES, TEMPLATES, Clue, Panel, Setting, beside
from tts.eval.scenes.towns import Town, towns_of
from tts.eval.scenes.words import Split, words_for
from tts.geodata.countries import Countries

_TOWN_RADIUS_M = 3000.0
_MAX_TRIES = 60
_NEIGHBOUR_SIGN_SHARE = 0.7  # share of signs that do not hang alone
_MAX_FARTHER_SIGNS = 3  # signs down the street, at most


@dataclass(frozen=True, slots=True)
class Scene:
    """A planned scene. Same `seed`, same fonts: same photo. Its tags tell of the signs near the camera."""

    number: int
    seed: str
    split: Split
    template: str
    locale: SceneLocale
    town: Town
    panel: Panel
    beside: Panel | None = None
    farther: tuple[Panel, ...] = ()

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The signs near the camera."""
        return (self.panel,) if self.beside is None else (self.panel, self.beside)

    @property
    def clue(self) -> Clue:
        """The strongest lead on any of its near signs."""
        return min((panel.clue for panel in self.panels), key=CLUES.index)

    @property
    def determined(self) -> bool:
        """Whether the words near the camera could stand in no other country."""
        facts = tuple(fact for panel in self.panels for fact in panel.facts)
        return common(facts) == {self.locale.country}

    @property
    def tags(self) -> tuple[str, ...]:
        """Split, script, language, clue, template, how many signs are farther away, and whether it is determined."""
        parts = ("script", self.locale.script), ("language", self.locale.language), ("clue", self.clue)
        certainty = "determined" if self.determined else "undetermined"
        drawn = f"template:{self.template}", f"farther:{len(self.farther)}"
        return (self.split, *(f"{name}:{value}" for name, value in parts), *drawn, certainty)

    def truth(self, countries: Countries) -> Truth:
        """The centre of a real town; a hit within the town's own extent counts."""
        return Truth(
            point=self.town.point,
            accuracy_radius_m=_TOWN_RADIUS_M,
            country=countries.name(self.town.country),
            country_code=self.town.country,
            city=self.town.latin,
        )


class SceneMaker:
    """Plans and draws scenes of one split. Without the street there are only the signs near the camera. `misleading`
    scenes are one sign each, of the kinds in `tts.eval.scenes.misleading_signs`."""

    def __init__(
        self, *, seed: int = 0, split: Split = "held_out", shelf: FontShelf | None = None, street: bool = True,
        misleading: bool = False,
    ) -> None:  # fmt: skip
        self.seed = seed
        self.split = split
        self.street = street and not misleading
        self.misleading = misleading
        self.shelf = shelf or FontShelf()
        self._locales: dict[str, list[SceneLocale]] = {}
        for locale in LOCALES:
            if locale.script in self.shelf.drawable and towns_of(locale):
                self._locales.setdefault(locale.language, []).append(locale)
        if not self._locales:
            raise DataError("no script can be drawn here: pip install 'geotts[scenes]'")

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages whose script can be drawn here and for which there are towns."""
        return tuple(self._locales)

    def plan(self, number: int) -> Scene:
        """Languages and templates take turns, so that few scenes already cover many of both.

        Raises:
            DataError: when nothing can be planned with the fonts at hand.
        """
        templates = MISLEADING if self.misleading else TEMPLATES[self.split]
        for attempt in range(_MAX_TRIES):
            seed = f"{self.seed}:{self.split}:{number}:{attempt}"
            rng = random.Random(seed)
            order = random.Random(f"{self.seed}:{number // len(self._locales)}").sample(
                self.languages, len(self._locales)
            )
            locale = rng.choice(self._locales[order[number % len(order)]])
            template = templates[(number // len(order) + number + attempt) % len(templates)]
            town = rng.choice(towns_of(locale))
            setting = Setting(rng, locale, words_for(locale.language, self.split), town, self.split)
            panel = template(setting)
            if panel is not None and self._can_draw(panel, locale.script):
                near = (
                    self._neighbour_sign(setting)
                    if not self.misleading and rng.random() < _NEIGHBOUR_SIGN_SHARE
                    else None
                )
                return Scene(
                    number, seed, self.split, template.__name__, locale, town, panel, near, self._farther_signs(setting)
                )
        raise DataError(f"scene {number} cannot be drawn with the fonts at hand")

    def photo(self, scene: Scene) -> bytes:
        """The JPEG of a scene, about 60 ms."""
        return draw_scene(scene.panels, scene.locale.script, self.shelf, scene.seed, scene.farther)

    def samples(self, count: int) -> list[Sample]:
        """`count` samples whose photos are drawn when they are loaded."""
        countries, made = Countries(), []
        for number in range(count):
            scene = self.plan(number)
            key = f"{self.split}/{number}"
            load = partial(self.photo, scene)
            sample = sample_id("misleading" if self.misleading else "scenes", key, self.seed)
            made.append(Sample(sample, load, scene.truth(countries), scene.tags, key))
        return made

    def _neighbour_sign(self, setting: Setting) -> Panel | None:
        panel = beside(setting)
        return panel if panel is not None and self._can_draw(panel, setting.locale.script) else None

    def _farther_signs(self, setting: Setting) -> tuple[Panel, ...]:
        """Signs of the same town farther down the street: none, or up to three."""
        wanted = setting.rng.randint(0, _MAX_FARTHER_SIGNS) if self.street else 0
        found = (self._neighbour_sign(setting) for _ in range(wanted))
        return tuple(panel for panel in found if panel is not None)

    def _can_draw(self, panel: Panel, script: str) -> bool:
        return all(self.shelf.pick(random.Random(0), script, line.text) is not None for line in panel.lines)


def write_scenes(maker: SceneMaker, count: int, folder: Path) -> None:
    """Photos and `labels.jsonl`, as the data set `folder` reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "labels.jsonl").open("wb") as labels:
        for sample in maker.samples(count):
            (folder / f"{sample.id}.jpg").write_bytes(sample.load())
            truth = sample.truth
            label = {
                "id": sample.id,
                "file": f"{sample.id}.jpg",
                **truth.point.model_dump(),
                **truth.model_dump(exclude={"point"}),
                "has_legible_text": True,
                "tags": list(sample.tags),
            }
            labels.write(orjson.dumps(label) + b"\n")
