"""Arguments of a released tool: whatever the model wrote, to be judged as the authors' tool judges it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tools.tool_provider import ToolProvider
from tts.errors import ToolError, ToolErrorKind
from tts.toolkit.spec import Arguments, ToolSpec


class WrittenArguments(Arguments):
    """`written` is an object in a good call, and anything else in others."""

    written: Any = None


class WrittenBox(WrittenArguments):
    """With the picture the model saw: a box in its pixels is `scale` times as large on the photo."""

    scale: float = Field(default=1.0, gt=0)


def spec_of_written(name: str, description: str, source: ToolProvider) -> ToolSpec:
    """Specify a tool over `source`.

    Args:
        name: the name of the tool in the toolbox, as `released_tool_name` makes it.
        description: as in `ToolSpec`.
        source: what answers the calls; its name is stated as the provider of the tool.

    Returns:
        A specification by which results are kept for the very arguments that the model wrote.
    """
    return ToolSpec(
        name,
        description,
        provider=source.name,
        needs_network=source.needs_network,
        exact=frozenset({"written"}),
    )


def verbatim_error(text: str, kind: ToolErrorKind = ToolErrorKind.INVALID_ARGUMENTS) -> ToolError:
    """Refuse a call.

    Args:
        text: all that the model reads of the failure.
        kind: what the failure counts as; the model does not read it.

    Returns:
        The error, which the model reads in these very words; the caller raises it.
    """
    return ToolError(text, kind=kind, verbatim=True)
