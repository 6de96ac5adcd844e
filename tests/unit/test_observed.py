"""Observer and planner: two models in one rollout."""

import asyncio

from stage import Recording, play_with
from support import virtual_time

from tts.dialects import DIALECTS
from tts.domain.answer import StopReason
from tts.inference.observed import ObservedModel

CALL = '{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [0, 0, 406, 238]}}'
ZOOM = f"<think>What does the sign say?</think><tool_call>{CALL}</tool_call>"
ANSWER = "<answer>\nCountry: Japan\nCity: Otaru\nLatitude: 43.19\nLongitude: 140.99\n</answer>"


@virtual_time
async def test_the_planner_reads_what_the_observer_sees_and_may_have_it_look_again(sign_photo):
    observer, planner = Recording("a canal"), Recording(ZOOM, "hm", ANSWER)
    played = await play_with(ObservedModel(planner, observer), DIALECTS["spotagent"], sign_photo)
    assert played.end.stop_reason is StopReason.ANSWERED
    assert len(observer.requests) == 2  # the photo and the crop, once each, over three turns
    scene, detail = (request.messages[1] for request in observer.requests)
    assert "812x476" in scene.text
    assert detail.images[0].box.pixels(800, 480) == (0, 0, 400, 240)
    assert "What does the sign say?" in detail.text
    last = planner.requests[-1]
    assert not any(message.images for message in last.messages)
    assert (last.photos, last.files) == ((), {})
    told = [message.text.count("The observer says: a canal") for message in last.messages if message.role == "user"]
    assert told == [1, 1, 0]
    assert planner.requests[1].messages == last.messages[: len(planner.requests[1].messages)]
    assert played.end.usage.model_calls == 3 + 2


@virtual_time
async def test_a_silent_observer_ends_the_rollout_with_its_reason(sign_photo):
    played = await play_with(ObservedModel(Recording(ANSWER), Recording("")), DIALECTS["spotagent"], sign_photo)
    assert (played.end.stop_reason, played.end.error) == (StopReason.FAILED, "model: the observer said nothing")


@virtual_time
async def test_a_photo_is_described_once_for_all_rollouts_of_a_request(sign_photo):
    observer = Recording("a canal")
    model = ObservedModel(Recording(ANSWER), observer)
    both = await asyncio.gather(
        *(play_with(model, DIALECTS["spotagent"], sign_photo, n=2, rollout_id=i) for i in range(2))
    )
    assert [played.end.stop_reason for played in both] == [StopReason.ANSWERED] * 2
    assert len(observer.requests) == 1
    assert sum(played.end.usage.model_calls for played in both) == 2 + 1
