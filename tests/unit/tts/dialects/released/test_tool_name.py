"""Names of released tools: which tool of ours one stands for, and whose tools a loop uses."""

from tts.dialects.released.tool_name import ability_of, released_system, released_tool_name


def test_a_released_tool_stands_for_the_tool_of_ours_with_the_same_ability():
    name = released_tool_name("web_search", "thinking_with_map", "google_search")
    assert name == "web_search.thinking_with_map.google_search"
    assert (ability_of(name), ability_of("geocode")) == ("web_search", "geocode")


def test_the_first_loop_of_a_system_has_the_name_of_its_dialect():
    assert [released_system("reverse", path) for path in (None, "eval", "rl")] == ["reverse", "reverse", "reverse_rl"]
