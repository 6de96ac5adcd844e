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
    """The specification of a tool over `source` whose results are kept for the very arguments.

    Args:
        name: the name of the tool in the toolbox, as `released_tool_name` makes it.
        description: as in `ToolSpec`.
        source: what answers the calls; its name is stated as the provider of the tool.
    """
    return ToolSpec(
        name,
        description,
        provider=source.name,
        needs_network=source.needs_network,
        exact=frozenset({"written"}),
    )


def verbatim_error(text: str, kind: ToolErrorKind = ToolErrorKind.INVALID_ARGUMENTS) -> ToolError:
    """A failure that the model reads in these very words.

    Args:
        text: all that the model reads of the failure.
        kind: what the failure counts as; the model does not read it.
    """
    return ToolError(text, kind=kind, verbatim=True)
