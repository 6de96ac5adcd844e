"""The national forms of number plates and what each says for its countries: `tts/data/plates.yaml`."""

from __future__ import annotations

import re
from datetime import date
from importlib.resources import files
from typing import Literal

import yaml

from tts.domain.value import Value


class PlateForm(Value):
    """A regular expression, the countries (ISO 3166-1 alpha-2) whose plates match it, and its weight in nats."""

    form: str
    countries: str
    nats: float


class PlateForms(Value):
    """The file of the forms. `letters` are parts of regular expressions; a form contains them as `<name>`."""

    version: Literal[1]
    source: Literal["hand-set"]
    date: date
    reason: str
    letters: dict[str, str]
    forms: tuple[PlateForm, ...]

    def compile(self) -> tuple[tuple[re.Pattern[str], tuple[str, ...], float], ...]:
        """Each form as a pattern, with its countries and its weight."""
        return tuple(
            (re.compile(self._insert_letters(one.form)), tuple(one.countries.split()), one.nats) for one in self.forms
        )

    def _insert_letters(self, form: str) -> str:
        return re.sub("<([a-z_]+)>", lambda name: self.letters[name[1]], form)


def plate_forms() -> PlateForms:
    """The shipped forms."""
    text = files("tts").joinpath("data", "plates.yaml").read_text("utf-8")
    return PlateForms.model_validate(yaml.load(text, yaml.CSafeLoader))
