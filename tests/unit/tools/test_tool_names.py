"""The tools that are made are those that the table names, each with what it is made of."""

from types import SimpleNamespace

from tools.registry import TOOL_FILES, ToolParts, tool_names


def test_every_file_makes_the_tools_that_the_table_names():
    anything = SimpleNamespace(name="any", needs_network=False, styles={"map", "satellite"})
    parts = ToolParts(**dict.fromkeys(("perception", "places", "countries", "maps", "web", "recordings"), anything))
    for file in TOOL_FILES:
        assert tuple(tool.spec.name for tool in file.make(parts)) == file.names
    assert [name for file in TOOL_FILES for name in file.names] == [*tool_names()]


def test_without_their_parts_only_the_zoom_is_made():
    assert [tool.spec.name for file in TOOL_FILES for tool in file.make(ToolParts())] == ["image_zoom"]
