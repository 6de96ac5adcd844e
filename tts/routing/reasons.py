"""What a plan says about a photo, in words for people."""

from __future__ import annotations

from collections.abc import Mapping

from tts.domain.plan import Limits

SHOWS_NOTHING = "the photo shows nothing that names a place: it is blank, one texture or noise"
NO_DRAWS = (
    "no answer is drawn again (limits.answer_draws), because the dialect follows its authors' code, which answers "
    "once: set dialect_settings.behaviour to served for draws"
)
_MIN_STRUCTURE = 0.3
_MIN_VEGETATION = 0.25
_MIN_SKY = 0.25
_MIN_INDOOR = 0.5


def to_reason_about(parts: Mapping[str, float]) -> str:
    """What an engine that sees has to go by: text, surroundings, or both."""
    scene = _surroundings_text(parts)
    if parts.get("text", 0.0) > 0.0:
        return f"there is text to read, and {scene} to reason about"
    return f"no text to read, but {scene} to reason about" if "text" in parts else f"there is {scene} to reason about"


def _surroundings_text(parts: Mapping[str, float]) -> str:
    if parts.get("indoor", 0.0) > _MIN_INDOOR:
        return "an indoor scene"
    if parts.get("structure", 0.0) > _MIN_STRUCTURE:
        return "a built-up scene"
    if parts.get("vegetation", 0.0) > _MIN_VEGETATION:
        return "vegetation"
    return "an open landscape" if parts.get("sky", 0.0) > _MIN_SKY else "a scene"


def _models_text(n: int, models: int) -> str:
    if n == 1:
        return ""
    return " of one model" if models == 1 else f" of a mixture of {models} models"


def plan_sentence(n: int, models: int, limits: Limits, *, tools: bool | None, reason: str) -> str:
    """One sentence: how many attempts, of how many models, with what, why. `tools` is None where the model has none to
    begin with.
    """
    attempts = f"{n} attempt{'' if n == 1 else 's'}{_models_text(n, models)}"
    if tools is not None:
        attempts += " with tools" if tools and limits.max_tool_calls else " without tools"
    return f"{attempts}: {reason}"
