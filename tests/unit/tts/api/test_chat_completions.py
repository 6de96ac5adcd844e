"""Chat completions in the form of OpenAI: whose text is whose, what a stream has, and which model is meant."""

import json

import pytest
from support.made_answers import an_answer

from tts.api.chat_completions import Completion, Narrator, answered_request, options_of
from tts.domain.events import Answered, RolloutFinished, Text
from tts.domain.usage import Usage
from tts.errors import NotFound

REQUEST_ID = "loc_0123456789abcdef0123"


def text_of(rollout_id, text):
    return Text(rollout_id=rollout_id, turn=0, text=text)


def test_a_heading_says_who_speaks_only_where_the_speaker_changes():
    narrator = Narrator()
    said = [narrator.text_of(text_of(*one)) for one in ((0, "a"), (0, "b"), (1, "c"), (0, "d"))]
    assert said == ["\n[rollout 0] a", "b", "\n[rollout 1] c", "\n[rollout 0] d"]


def test_a_stream_has_reasoning_then_the_answer_and_its_usage_if_that_is_asked_for():
    answer = an_answer(usage=Usage(prompt_tokens=90, completion_tokens=10))
    completion = Completion("loc_1", "geotts", created=1, version="9")
    events = (text_of(0, "A sign."), RolloutFinished(rollout_id=0, stop_reason="answered"), Answered(answer=answer))
    deltas = [chunk["choices"][0]["delta"] for event in events for chunk in completion.chunks(event)]
    assert [list(delta) for delta in deltas] == [["reasoning_content"]] * 2 + [["content"]]
    assert json.loads(deltas[-1]["content"])["city"] == "Bellinzona"
    (end,) = completion.last(include_usage=False)
    assert end["choices"][0]["finish_reason"] == "stop"
    *_, usage = completion.last(include_usage=True)
    assert (usage["choices"], usage["usage"]["total_tokens"]) == ([], 100)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (json.dumps({"provenance": {"request_id": REQUEST_ID}}), REQUEST_ID),
        (json.dumps({"provenance": {"request_id": "another"}}), None),
        (json.dumps({"provenance": 3}), None),
        ("It is in Bern.", None),
        ("[" * 100_000, None),
    ],
)
def test_only_an_answer_of_the_service_names_an_earlier_request(content, found):
    assert answered_request(content) == found


def test_the_name_of_the_model_sets_the_depth_and_an_unknown_one_is_refused():
    assert options_of("geotts", seed=3, max_tokens=None) == {"depth": "auto", "seed": 3}
    assert options_of("geotts-deep", seed=None, max_tokens=900) == {"depth": "deep", "max_tokens_total": 900}
    with pytest.raises(NotFound, match="geotts-deep"):
        options_of("another", seed=None, max_tokens=None)
