"""GeoVista as released: its rounds, its limits, and the answer in words that is looked up."""

from support.released_geovista import ANSWER, RELEASED, SEARCH, ZOOM, play, written_call

from tts.dialects import DIALECTS


def test_calls_are_rewritten_in_the_transcript_and_results_are_added_as_json():
    played = play(f"{SEARCH} and more", ANSWER)
    assistant_text, read = (message.text for message in played.appended_messages()[:2])
    assert assistant_text.startswith('<think>x</think><tool_call>{\n  "name": "search_web"')
    assert assistant_text.endswith("</tool_call>")
    assert '"href": "https://a.example"' in read


def test_the_loop_asks_for_a_search_and_then_for_an_answer():
    played = play(ZOOM, ZOOM, ZOOM, ZOOM, ZOOM, ZOOM)
    last = [message.text for message in played.requests[-1].messages if message.role == "user"]
    assert len(played.requests) == 6
    assert [("on the web" in text, "no more tools" in text) for text in last[1:]] == [
        (False, False), (False, False), (False, False), (True, False), (False, True)]  # fmt: skip
    searched = play(SEARCH, ZOOM, ZOOM, ZOOM, ZOOM, ANSWER)
    assert not any("on the web" in message.text for message in searched.requests[-1].messages[1:])


def test_an_answer_ends_the_run_and_an_unknown_tool_does_too():
    assert len(play(ZOOM, ANSWER, ANSWER).requests) == 2
    assert len(play(written_call("maps_geocode", address="x"), ANSWER).requests) == 1


def test_the_limit_of_six_rounds_allows_six_calls_in_all():
    """Served as released or tolerantly: the loop decides, five zooms and two searches are more than it has rounds."""
    assert (RELEASED.limits.max_turns, RELEASED.limits.max_tool_calls) == (6, 6)
    assert DIALECTS["geovista"].limits == RELEASED.limits
    assert sum(RELEASED.calls_per_tool.values()) > RELEASED.limits.max_tool_calls


def test_two_searches_are_allowed_and_those_that_failed_do_not_count():
    third = play(SEARCH, SEARCH, SEARCH, ANSWER).requests[-1].messages[-1].text
    assert third.startswith(
        "<tool_response>Tool call error: Maximum search tool calls (2) exceeded\n\nError details:\n"
    )
    failed = play(SEARCH, SEARCH, SEARCH, ANSWER, provider={"reply": []}).requests[3].messages[-1].text
    assert "Empty search results!!" in failed


def test_the_answer_is_looked_up_finest_name_first():
    played = play(ANSWER.replace("Somewhere", "Old Quay, Somewhere"))
    assert [call.arguments["address"] for call in played.calls] == [
        "Old Quay, Somewhere, Nowhere", "Somewhere, Nowhere", "Nowhere"]  # fmt: skip
