"""The opinion of a verifier model, as one JSON object: reasons that cite evidence, then a choice.

`read_opinion` accepts no choice that is not a branch, and no reasons that cite nothing or something unknown. If it
refuses an opinion, the model gets the reason, once.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import Field, JsonValue, ValidationError

from tts.dialects.coordinate_parser import Axis, degrees
from tts.dialects.json_answer_parser import json_objects
from tts.domain.geo import LatLon
from tts.domain.value import Value
from tts.verify.model.dossier import Dossier

_MAX_REASONS = 6
NOBODY = "none"
_ID_SEPARATOR: Final = re.compile(r"[,;\s]+")
_AXES: Final[tuple[Axis, ...]] = ("lat", "lon")


class Reason(Value):
    """One reason, with the ids of the evidence that it cites."""

    text: Annotated[str, Field(max_length=2000)]
    evidence: tuple[str, ...]


class Opinion(Value):
    """`choice` is a branch, or `none`; `lat` and `lon` only where an answer may be put together from several."""

    reasons: tuple[Reason, ...]
    choice: str
    lat: Annotated[float, Field(ge=-90, le=90)] | None = None
    lon: Annotated[float, Field(ge=-180, le=180)] | None = None

    @property
    def point(self) -> LatLon | None:
        """The point that the model put together from several branches; None when it gave none."""
        return None if self.lat is None or self.lon is None else LatLon(lat=self.lat, lon=self.lon)


class UnusableOpinion(ValueError):
    """What is wrong with an opinion, in words for the model."""


def opinion_schema(dossier: Dossier, *, synthesise: bool) -> dict[str, JsonValue]:
    """Every opinion that decoding allows names real branches and real evidence."""
    labels: list[JsonValue] = [branch.label for branch in dossier.branches]
    ids: list[JsonValue] = list(dossier.exhibits)
    evidence: dict[str, JsonValue] = {
        "type": "array",
        "items": {"enum": ids} if ids else {"type": "string", "maxLength": 4},
        "minItems": 1 if ids else 0,
        "maxItems": 4,
    }
    reason: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 300}, "evidence": evidence},
        "required": ["text", "evidence"],
        "additionalProperties": False,
    }
    properties: dict[str, JsonValue] = {
        "reasons": {"type": "array", "items": reason, "minItems": 1, "maxItems": _MAX_REASONS},
        "choice": {"enum": [*labels, NOBODY]},
    }
    if synthesise:
        properties["lat"] = {"type": "number", "minimum": -90, "maximum": 90}
        properties["lon"] = {"type": "number", "minimum": -180, "maximum": 180}
    required: list[JsonValue] = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def read_opinion(text: str, dossier: Dossier) -> Opinion:
    """The last JSON object with a choice, however it is written; what stands beside what was asked for is left out.

    Raises UnusableOpinion with what is wrong, in words for the model.
    """
    written = [value for value in json_objects(text) if "choice" in value]
    if not written:
        raise UnusableOpinion("there is no whole JSON object with a choice in it")
    try:
        opinion = Opinion.model_validate(_asked_fields(written[-1]))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:4])
        raise UnusableOpinion(f"the JSON object has the wrong form: {wrong}") from error
    if opinion.choice != NOBODY and dossier.branch(opinion.choice) is None:
        raise UnusableOpinion(f"there is no branch {opinion.choice[:20]!r}")
    cited = {exhibit for reason in opinion.reasons for exhibit in reason.evidence}
    if unknown := sorted(cited - dossier.exhibits.keys()):
        raise UnusableOpinion(f"there is no evidence {', '.join(unknown)[:80]}")
    if not opinion.reasons or (dossier.exhibits and not cited):
        raise UnusableOpinion("the reasons cite no evidence")
    return opinion


def _asked_fields(written: dict[str, Any]) -> dict[str, Any]:
    fields = {key: written[key] for key in Opinion.model_fields if key in written}
    fields["choice"] = _label(fields["choice"])
    for axis in _AXES:
        if isinstance(value := fields.get(axis), str):
            read = degrees(value, axis)
            fields[axis] = value if read is None else read
    if isinstance(reasons := fields.get("reasons"), list):
        fields["reasons"] = [_asked_fields_of_reason(reason) for reason in reasons]
    return fields


def _asked_fields_of_reason(written: Any) -> Any:
    """Ids may stand in one text, and in the brackets in which the dossier shows them."""
    if not isinstance(written, dict):
        return written
    fields = {key: written[key] for key in Reason.model_fields if key in written}
    ids = fields.get("evidence")
    ids = [ids] if isinstance(ids, str) else ids
    if isinstance(ids, list) and all(isinstance(item, str) for item in ids):
        fields["evidence"] = [part.strip("[]").upper() for item in ids for part in _ID_SEPARATOR.split(item) if part]
    return fields


def _label(choice: Any) -> Any:
    """The letter of a branch in capitals, without the word before it; null is nobody."""
    if not isinstance(choice, str):
        return NOBODY if choice is None else choice
    label = choice.strip().upper().removeprefix("BRANCH").strip()
    return NOBODY if label == NOBODY.upper() else label
