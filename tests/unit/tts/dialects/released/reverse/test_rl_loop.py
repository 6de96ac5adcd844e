"""The loop of REVERSE's training: one call a turn, and where a rollout ends."""

from support.released_reverse import ANSWER, PHOTO, SEARCH, ZOOM, play_training, written_call

from tts.toolkit.reverse_cache.recorded_searches import CachedResult, ReverseCache, TextCall


def test_training_runs_the_first_call_and_ends_without_one():
    played = play_training([written_call(ZOOM) + written_call(SEARCH), ANSWER])
    (tool_message,) = [message for message in played.requests[1].messages if message.role == "tool"]
    assert tool_message.text == "Zoomed in on the image to the region [0, 0, 500, 500]."
    assert tool_message.images
    assert played.finished.answer.point.lon == 20.5
    assert len(play_training(["<think>x</think>", ANSWER]).requests) == 1
    assert len(play_training([f"<tool_call>{ZOOM}", ANSWER]).requests) == 1
    assert len(play_training([written_call(ZOOM)], turns_before=19).requests) == 1
    assert len(play_training([written_call(ZOOM)], tokens_before=8100).requests) == 1


def test_a_long_search_result_in_training_loses_its_middle():
    results = tuple(CachedResult(i, "T" * 900, "l", "S", "", False) for i in range(1, 9))
    cache = ReverseCache({}, {"p.jpg": (TextCall("p.jpg", 0, "q", results),)}, {PHOTO.sha256: "p.jpg"})
    played = play_training([written_call(SEARCH), ANSWER], cache)
    text = played.requests[1].messages[-1].text
    assert "...(truncated)..." in text
    assert len(text) == 4000 + len("...(truncated)...")
