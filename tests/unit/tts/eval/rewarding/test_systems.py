"""Rewards of released systems, computed from a recorded output."""

from dataclasses import replace

import pytest

from tts.domain.geo import LatLon
from tts.domain.tooling import ToolFailure, ToolResult
from tts.domain.trajectory import Turn
from tts.errors import ToolErrorKind
from tts.eval.rewarding.reward_inputs import RewardInputs
from tts.eval.rewarding.rewarded_output import RewardedOutput
from tts.eval.rewarding.systems import compute_reward


def test_thinking_with_map_states_what_unusable_boxes_cost():
    refusal = ToolFailure(kind=ToolErrorKind.INVALID_ARGUMENTS, detail="bad box")
    results = (
        ToolResult(call_id="1", name="image_zoom_in_tool", text="bad box", failure=refusal),
        ToolResult(call_id="2", name="image_zoom_in_tool", text="bad box", failure=refusal),
        ToolResult(call_id="3", name="image_zoom_in_tool", text="a picture"),
        ToolResult(call_id="4", name="amap_input_tips", text="bad box", failure=refusal),
    )
    turns = (Turn(index=0, results=results[:1]), Turn(index=1, results=results[1:]))
    output = RewardedOutput("a", 0, '{"lat": 10, "lon": 20}', truth=LatLon(lat=10.0, lon=20.0), turns=turns)
    made = compute_reward(output, "thinking_with_map", RewardInputs())
    assert made.parts["call_penalty"] == pytest.approx(0.1)
    without = compute_reward(replace(output, turns=()), "thinking_with_map", RewardInputs())
    assert (without.parts["call_penalty"], without.reward) == (0.0, made.reward)
