"""The tools that a model is offered: those that the request allows and consents to, in the form of its dialect."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tts.dialects.base import Dialect
from tts.dialects.released.tool_name import ability_of
from tts.ports.toolbox import ToolSchema


def offered_tools(
    dialect: Dialect, schemas: Iterable[ToolSchema], allowed: Collection[str] | None, *, region_search: bool
) -> tuple[ToolSchema, ...]:
    """`allowed` names abilities, None all of them; tools that send parts of a photo need `region_search`."""
    consented = [schema for schema in schemas if region_search or not schema.sends_photo]
    return dialect.schemas(tuple(s for s in consented if allowed is None or ability_of(s.name) in allowed))
