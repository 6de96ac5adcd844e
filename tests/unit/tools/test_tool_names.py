"""The tools and providers that are made are those that the tables name, and the documentation lists them."""

import re
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import tools.providers
from tools.providers_by_name import KEY_VARIABLES, PROVIDERS
from tools.registry import TOOL_FILES, ToolParts, tool_names
from tts.config import ProviderName
from tts.config.region_search import BY_URL, REGION_PROVIDERS

NOT_SERVICES = {"offline", "tape"}
TOOLS_PAGE = Path(__file__).parents[3] / "docs" / "tools.md"


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


def test_every_file_of_a_provider_has_its_name_in_the_configuration():
    files = [file.stem for file in Path(tools.providers.__path__[0]).glob("[a-z]*.py")]
    services = {file for file in files if hasattr(import_module(f"tools.providers.{file}"), "PROVIDER")}
    assert services == set(PROVIDERS)
    assert services | NOT_SERVICES == set(get_args(ProviderName))


def test_the_configuration_knows_which_providers_receive_parts_of_photos():
    by_url = {name for name, provider in PROVIDERS.items() if provider.regions_by_url}
    assert by_url == set(BY_URL)
    assert by_url | {name for name, provider in PROVIDERS.items() if provider.regions} == set(REGION_PROVIDERS)


def test_the_documentation_lists_every_provider_with_the_variable_of_its_key():
    table = TOOLS_PAGE.read_text().partition("| provider | places |")[2].partition("\n\n")[0]
    rows = [[re.findall(r"`(\w+)`", cell) for cell in row.split("|")[1:6]] for row in table.splitlines()[2:]]
    variables = [
        (name, key) for names, *_, keys in rows for name, key in zip(names, keys or [""] * len(names), strict=True)
    ]
    expected = {name: KEY_VARIABLES.get(name, "") for name in get_args(ProviderName)}
    assert sorted(variables) == sorted(expected.items())
