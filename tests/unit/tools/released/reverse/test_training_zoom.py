"""The zoom of REVERSE's training: small boxes grow, thin ones are refused."""

import json

from support.released_reverse import ANSWER, play_training, written_call


def test_training_enlarges_small_boxes_and_refuses_thin_ones():
    def tool_message(box):
        call = json.dumps({"name": "image_zoom_in_tool", "arguments": {"bbox_2d": box}})
        played = play_training([written_call(call), ANSWER])
        return next(message for message in played.requests[1].messages if message.role == "tool")

    (picture,) = tool_message([500, 500, 505, 505]).images
    assert min(picture.width, picture.height) >= 28
    assert "smaller than the minimum size of 28x28" in tool_message([0, 500, 1000, 503]).text
    assert "must be normalized coordinates" in tool_message([0, 0, 1000.5, 500]).text
    assert tool_message(7).text == "Error when executing tool: object of type 'int' has no len()"
