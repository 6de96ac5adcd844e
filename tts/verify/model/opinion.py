"""The opinion of a verifier model, as one JSON object: reasons that cite evidence, then a choice.

`read_opinion` accepts no choice that is not a branch, and no reasons that cite nothing or something unknown. If it
refuses an opinion, the model gets the reason, once.
"""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field, JsonValue, ValidationError

from tts.domain.geo import LatLon
from tts.domain.value import Value
from tts.verify.model.dossier import Dossier

_MAX_REASONS = 6
NOBODY = "none"


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
    """Control characters are allowed in strings: constrained decoding lets a model write them.

    Raises UnusableOpinion with what is wrong, in words for the model.
    """
    opened, closed = text.find("{"), text.rfind("}")
    if opened < 0 or closed <= opened:
        raise UnusableOpinion("there is no JSON object in it")
    try:
        opinion = Opinion.model_validate(json.loads(text[opened : closed + 1], strict=False))
    except json.JSONDecodeError as error:
        raise UnusableOpinion(f"the JSON is broken: {error.msg}") from error
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
