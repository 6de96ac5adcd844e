"""Trajectories for verifiers to weigh: a point each, with or without a tool that names it."""

from tts.domain.answer import StopReason
from tts.domain.events import Event, Hypothesised, RolloutFinished, ToolResulted
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Claim, Hypothesis
from tts.domain.tooling import PlaceFact, ToolResult
from tts.domain.trajectory import fold

COIMBRA = LatLon(lat=40.2056, lon=-8.4196)
PORTO = LatLon(lat=41.1496, lon=-8.611)
OSAKA = LatLon(lat=34.69, lon=135.50)


def trajectory(i, point, *, tool=True, name="Vila X", claim="a sign names X", confidence=None):
    place = PlaceFact(id=f"{name}-{i}", name=name, point=point, source="test")
    result = ToolResult(call_id="c1", name="poi_keyword_search", text=name, facts=(place,))
    belief = Hypothesis(point=point, confidence=confidence, claims=(Claim(text=claim, call_id="c1", quote=name),))
    if not tool:
        belief = Hypothesis(point=point, confidence=confidence, claims=(Claim(text=claim),))
    events: list[Event] = [ToolResulted(rollout_id=i, turn=0, result=result)] if tool else []
    events += [
        Hypothesised(rollout_id=i, turn=0, hypothesis=belief),
        RolloutFinished(rollout_id=i, stop_reason=StopReason.ANSWERED, answer=belief),
    ]
    return fold(events).trajectories[0]


def even_runs():
    """Two branches on two continents, each as well supported as the other."""
    return trajectory(0, COIMBRA), trajectory(1, OSAKA, name="Namba")
