"""Thinking with Map as released, over made-up replies: what runs, what is read, and what ends a rollout."""

import pytest
from support.released_thinking_with_map import ANSWER, ZOOM, play, released_dialect, texts_read, written_call

from tts.dialects import DIALECTS
from tts.dialects.base import Surroundings
from tts.dialects.settings import DialectSettings
from tts.domain.answer import StopReason
from tts.domain.geo import Countries, LatLon
from tts.domain.messages import text_message
from tts.errors import ConfigError


def test_the_first_call_runs_and_the_others_are_not_answered():
    played, _ = play(written_call("image_zoom_in_tool", ZOOM) + written_call("image_zoom_in_tool", ZOOM), ANSWER)
    assert texts_read(played) == ["Zoomed in on the image to the region [100, 200, 600, 700]."]
    assert played.finished.stop_reason is StopReason.ANSWERED


@pytest.mark.parametrize(
    "output",
    ["I do not know.", '<tool_call>{"name": "image_zoom_in_tool"', "<TOOL_CALL>{}</TOOL_CALL>", ""],
)
def test_a_turn_without_a_call_that_can_be_read_ends_the_rollout_uncorrected(output):
    played, _ = play(output, ANSWER)
    assert len(played.requests) == 1
    assert (played.finished.stop_reason, played.finished.answer) == (StopReason.FAILED, None)


def test_the_answer_is_the_first_strict_object_of_the_whole_response():
    first = ANSWER.replace("30.25", "31.5")
    played, _ = play(f"{first} Let me check.\n{written_call('image_zoom_in_tool', ZOOM)}", ANSWER)
    assert round(played.finished.answer.point.lat, 2) in (31.5, 31.51)  # GCJ-02 turned to WGS-84


def test_calls_of_the_eighth_turn_do_not_run():
    played, _ = play(written_call("image_zoom_in_tool", ZOOM), ANSWER, turns_before=7)
    assert played.calls == []
    assert len(played.requests) == 1
    seventh, _ = play(written_call("image_zoom_in_tool", ZOOM), ANSWER, turns_before=6)
    assert len(seventh.calls) == 1


def test_a_tool_result_that_would_reach_the_token_limit_is_left_out():
    long = {"status": "1", "tips": [{"id": "B1", "name": "x" * 300}]}
    played, _ = play(
        written_call("amap_input_tips", {"query": "a"}), ANSWER, provider={"reply": long}, tokens_before=3800
    )
    assert len(played.calls) == 1
    assert len(played.requests) == 1
    assert played.finished.stop_reason is StopReason.BUDGET


def test_the_tool_set_is_chosen_by_the_area_or_the_point_of_the_leader():
    chooses = released_dialect()
    assert chooses.for_surroundings(Surroundings()).tool_set == "google"
    assert chooses.for_surroundings(Surroundings(within=Countries(codes=("CN",)))).tool_set == "amap"
    assert chooses.for_surroundings(Surroundings(leader=LatLon(lat=30.2, lon=120.1))).tool_set == "amap"
    assert chooses.for_surroundings(Surroundings(Countries(codes=("CN",)), LatLon(lat=54, lon=10))).tool_set == "google"
    assert (
        released_dialect(tool_set="google").for_surroundings(Surroundings(leader=LatLon(lat=30.2, lon=120.1))).tool_set
        == "google"
    )
    assert (released_dialect(tool_set="amap").datum, released_dialect(tool_set="google").datum) == ("GCJ-02", "WGS-84")


@pytest.mark.parametrize("name", ["spotagent", "geo_adapt", "generic"])
def test_released_behaviour_is_refused_for_a_dialect_without_public_code(name):
    with pytest.raises(ConfigError, match="not public"):
        DIALECTS[name].with_settings(DialectSettings(behaviour="released"))


def test_unknown_tool_sets_and_released_paths_are_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="amap, google"):
        released_dialect(tool_set="bing")
    with pytest.raises(ConfigError, match="verl, demo"):
        released_dialect(released_path="train")


def test_two_zeros_are_a_position_and_null_in_quotes_is_no_answer_as_in_the_released_code():
    speaker = released_dialect(tool_set="google")
    zeros = text_message("assistant", '{"lat": 0, "lon": 0, "city": "", "country": ""}')
    quoted = text_message("assistant", '{"lat": "null", "lon": "null", "city": "", "country": ""}')
    assert speaker.conclusion((zeros,)).answer.point == LatLon(lat=0.0, lon=0.0)
    assert speaker.conclusion((quoted,)) is None
