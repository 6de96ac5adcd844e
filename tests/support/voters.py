"""Rollouts that ended, or still run, at a stated place, for tests of agreement and stopping."""

from tts.domain.answer import StopReason
from tts.domain.geo import LatLon, destination
from tts.domain.hypothesis import Hypothesis
from tts.domain.tooling import PlaceFact, ToolCall, ToolResult
from tts.domain.trajectory import Trajectory, Turn

LYON = LatLon(lat=45.76, lon=4.84)
OSAKA = LatLon(lat=34.69, lon=135.5)


def rollout_at(i, point, *, running=False, place=None, reason=StopReason.ANSWERED):
    """Rollout `i` answers `point`, and rests on the statement of a tool about `place` where one is named."""
    turns: tuple[Turn, ...] = ()
    if place is not None:
        fact = PlaceFact(id=place, name=place, point=point, source="test")
        result = ToolResult(call_id="c", name="find", text=place, facts=(fact,))
        turns = (Turn(index=0, calls=(ToolCall(id="c", name="find", arguments={"query": place}),), results=(result,)),)
    return Trajectory(
        rollout_id=i, turns=turns, answer=Hypothesis(point=point), stop_reason=None if running else reason
    )


def point_east(km):
    """A point this far east of Lyon."""
    return destination(LYON, bearing_deg=90, distance_km=km)
