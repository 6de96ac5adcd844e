"""The tools and providers that are made are those that the tables name, and the documentation lists them."""

import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

import tools.providers
from tools.places import PLACE_TOOLS, GeocodeArguments, SearchArguments, places_tools
from tools.provider_lookup import PROVIDERS, key_variable
from tools.registry import TOOL_FILES, ToolParts, tool_names
from tts.config.provider_names import KNOWN_PROVIDERS, OWN_NAMES
from tts.rollout.first_turn import TOOLS_FOR_NAMES

NOT_SERVICES = {"offline", "tape"}
TOOLS_PAGE = Path(__file__).parents[3] / "docs" / "tools.md"


def test_every_file_makes_the_tools_that_the_table_names():
    anything = SimpleNamespace(name="any", needs_network=False, styles={"map", "satellite"})
    parts = ToolParts(**dict.fromkeys(("perception", "places", "countries", "maps", "web", "recordings"), anything))
    for file in TOOL_FILES:
        assert tuple(tool.spec.name for tool in file.make(parts)) == file.names
    assert [name for file in TOOL_FILES for name in file.names] == [*tool_names()]


def test_the_first_turn_knows_every_place_tool_that_takes_a_name():
    anything = SimpleNamespace(name="any", needs_network=False)
    made = places_tools(anything, anything)
    assert tuple(tool.spec.name for tool in made) == PLACE_TOOLS
    by_name = {tool.spec.name for tool in made if tool.arguments in (SearchArguments, GeocodeArguments)}
    assert by_name == TOOLS_FOR_NAMES


def test_only_image_zoom_is_made_without_providers_and_other_parts():
    assert [tool.spec.name for file in TOOL_FILES for tool in file.make(ToolParts())] == ["image_zoom"]


def test_every_provider_that_has_a_key_says_where_it_goes():
    for name, provider in PROVIDERS.items():
        assert (provider.key_place is not None) == bool(key_variable(name))
        assert re.fullmatch(r"(\w+_API_KEY)?", key_variable(name))


def test_every_file_of_a_provider_has_its_name_in_the_configuration():
    files = [file.stem for file in Path(tools.providers.__path__[0]).glob("[a-z]*.py")]
    services = {file for file in files if hasattr(import_module(f"tools.providers.{file}"), "PROVIDER")}
    assert services == set(PROVIDERS)
    assert services | NOT_SERVICES == set(OWN_NAMES)


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_configuration_knows_how_each_provider_receives_parts_of_photos(name):
    assert KNOWN_PROVIDERS[name].pictures == PROVIDERS[name].pictures


def test_every_provider_that_receives_parts_of_photos_has_a_name_for_people():
    assert all(provider.title for provider in PROVIDERS.values() if provider.pictures != "none")


def test_the_documentation_lists_every_provider_with_the_variable_of_its_key():
    table = TOOLS_PAGE.read_text().partition("| provider | places |")[2].partition("\n\n")[0]
    rows = [[re.findall(r"`(\w+)`", cell) for cell in row.split("|")[1:6]] for row in table.splitlines()[2:]]
    variables = [
        (name, key) for names, *_, keys in rows for name, key in zip(names, keys or [""] * len(names), strict=True)
    ]
    expected = {name: key_variable(name) for name in OWN_NAMES}
    assert sorted(variables) == sorted(expected.items())
