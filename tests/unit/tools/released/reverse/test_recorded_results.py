"""The searches of REVERSE's training: results that were recorded, and their rewards."""

import random

import pytest
from support.released_reverse import recorded_cache

from tools.released.reverse.recorded_results import recorded_pages, recorded_pictures
from tts.errors import ToolError


def test_the_searches_of_training_know_recorded_calls_and_their_rewards():
    cache, chance = recorded_cache(), lambda: random.Random(0)
    found = recorded_pictures(cache, "p.jpg", [0, 0, 500, 450], chance)
    assert found.reward == pytest.approx(0.2 * 0.9)
    assert len(found.meta["_pos_indices_in_mixed"]) == 2
    assert recorded_pictures(cache, "p.jpg", [500, 500, 900, 900], chance).meta["iou"] == 0.0
    assert recorded_pictures(cache, "q.jpg", [0, 0, 1, 1], chance).meta["iou"] is None
    pages = recorded_pages(cache, "p.jpg", ["the", "OLD mill"], chance)
    assert pages.text.startswith("Web search results for: old mill\n\n[1] T")
    assert max(len(line) for line in pages.text.splitlines()) == 204
    assert recorded_pages(cache, "q.jpg", "x", chance).text == "Web search results for: x\n\nNo results found."
    for box, text in (([1, 2, 3], "not a list of 4"), (["a", 0, 1, 1], "non-numeric"), ([0, 0, 1, 1001], "[0, 1000]")):
        with pytest.raises(ToolError) as refusal:
            recorded_pictures(cache, "p.jpg", box, chance)
        assert text in refusal.value.detail
