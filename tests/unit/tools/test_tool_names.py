"""The tools that are made are those that the table names, each with what it is made of."""

from types import SimpleNamespace

from tools.provider_assembly import KEY_VARIABLES, PROVIDERS
from tools.registry import TOOL_FILES, ToolParts, tool_names


def test_every_file_makes_the_tools_that_the_table_names():
    anything = SimpleNamespace(name="any", needs_network=False, styles={"map", "satellite"})
    parts = ToolParts(**dict.fromkeys(("perception", "places", "countries", "maps", "web", "recordings"), anything))
    for file in TOOL_FILES:
        assert tuple(tool.spec.name for tool in file.make(parts)) == file.names
    assert [name for file in TOOL_FILES for name in file.names] == [*tool_names()]


def test_without_their_parts_only_the_zoom_is_made():
    assert [tool.spec.name for file in TOOL_FILES for tool in file.make(ToolParts())] == ["image_zoom"]


def test_every_provider_that_has_a_key_says_where_it_goes():
    assert {name for name, provider in PROVIDERS.items() if provider.key_place is not None} == set(KEY_VARIABLES)
    assert all(variable.endswith("_API_KEY") for variable in KEY_VARIABLES.values())
