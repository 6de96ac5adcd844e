"""Names of released tools in a toolbox: `ability.system.name`, as in `web_search.thinking_with_map.google_search`.

The ability is the name of the tool of ours that does the same. A request that allows or refuses tools by our names
means the released ones of that ability too.
"""

from __future__ import annotations

from typing import Final

FIRST_PATHS: Final = ("verl", "eval")
"""The loop that a system is served with unless another is named."""


def released_tool_name(ability: str, system: str, name: str) -> str:
    """The toolbox name of what `system` calls `name`; `ability` is the tool of ours that does the same."""
    return f"{ability}.{system}.{name}"


def released_system(dialect: str, path: str | None) -> str:
    """Whose tools a released loop uses: the first loop of a system has none beside the dialect's name."""
    return dialect if path in (None, *FIRST_PATHS) else f"{dialect}_{path}"


def ability_of(tool: str) -> str:
    """The tool of ours that a tool stands for; itself when it is ours."""
    return tool.partition(".")[0]
