"""Number plates by their national forms. Most forms are shared by countries; a rarer form is a stronger clue.

The forms and their weights are in `tts/data/plates.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tts.clues.clue import Clue, ClueKind, list_countries
from tts.clues.plate_forms import plate_forms
from tts.decision_weights import weights as weights_of

_W = weights_of("signs")
_MAX_CHARACTERS = int(_W["plate_characters"])
_MAX_GROUP_LETTERS = int(_W["plate_group_letters"])
_MIN_DIGITS = int(_W["plate_digits"])
_PLATES = plate_forms().compile()
_PLATE_TRUST = _W["plate"]
_LETTER_GROUP = re.compile(r"[^\W\d_]+")


def plate_clues(text: str) -> Iterator[Clue]:
    """One clue when a whole line has the form of a plate: countries by how much the form is their own."""
    plate = text.strip().strip("|[]")
    digits = sum(char.isdigit() for char in plate)
    if len(plate) > _MAX_CHARACTERS or digits < _MIN_DIGITS or not any(char.isalpha() for char in plate):
        return
    nats: dict[str, float] = {}
    for form, codes, value in _PLATES:
        if form.fullmatch(plate):
            nats |= {code: max(_PLATE_TRUST * value, nats.get(code, 0.0)) for code in codes}
    if nats:
        top = max(nats.values())
        weights = {code: value - top for code, value in nats.items()}
        named = list_countries(sorted(nats, key=lambda code: (-nats[code], code)))
        yield Clue(
            kind=ClueKind.PLATE, quote=plate, why=f"looks like a number plate of {named}", weights=weights, other=-top
        )


def is_code(text: str) -> bool:
    """Digits with short groups of capitals: a plate, a route, a model. Its letters are of no language."""
    groups = _LETTER_GROUP.findall(text)
    return sum(char.isdigit() for char in text) >= _MIN_DIGITS and all(
        len(group) <= _MAX_GROUP_LETTERS and group.isupper() for group in groups
    )
