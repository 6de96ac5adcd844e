"""The zoom of Thinking with Map as released: the size of each crop."""

import pytest
from support.released_thinking_with_map import ANSWER, play, written_call


@pytest.mark.parametrize(
    ("box", "size"),
    [
        ([500, 500, 510, 510], (38, 29)),  # grown around its centre
        ([995, 995, 1000, 1000], (38, 28)),  # pushed inside
        ([900, 900, 1100, 1000], (202, 76)),  # black beyond the edge
        ([600, 200, 100, 700], None),
        ([0, 0, 1000, 5], None),  # grown, but too long for its height
        ([1, 2, 3], None),
    ],
)
def test_crops_have_the_size_of_the_authors(box, size):
    played, _ = play(written_call("image_zoom_in_tool", {"bbox_2d": box}), ANSWER)
    shown = [(image.width, image.height) for message in played.appended_messages() for image in message.images]
    assert shown == ([size] if size else [])
