"""A recorded request whose rollouts are from several sources."""

from support.made_answers import an_answer
from tts.domain.answer import RolloutStatus, StopReason
from tts.domain.geo import LatLon
from tts.domain.plan import Depth, Limits, Locatability
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run, Trajectory
from tts.domain.usage import Usage
from tts.eval.runs.record import Record
from tts.eval.sample import Truth
from tts.ports.locator import Routing
from tts.routing.depth_router import DepthRouter

HERE = LatLon(lat=48.8566, lon=2.3522)
ROUTING = Routing(Locatability(score=0.5, method="cues", parts={"text": 0.3, "content": 0.9}))
ASKED = LocateOptions(n_parallel=2, depth=Depth.DEEP, stop="none")


def recorded_request(*sources):
    """A request whose rollouts are from these sources."""
    rollouts = {i: Trajectory(rollout_id=i, source=source, usage=Usage(completion_tokens=50))
                for i, source in enumerate(sources)}  # fmt: skip
    statuses = [RolloutStatus(rollout_id=i, stop_reason=StopReason.ANSWERED, answered=True, source=source)
                for i, source in enumerate(sources)]  # fmt: skip
    routed = {"locatability": ROUTING.locatability, "plan": DepthRouter(Limits()).plan(ASKED, ROUTING)}
    run = Run.model_validate({"routed": {"type": "routed", **routed}, "rollouts": rollouts})
    answer = an_answer(lat=HERE.lat, lon=HERE.lon, usage=Usage(prompt_tokens=10), rollouts=tuple(statuses))
    truth = Truth(point=HERE, country="France", city="Paris")
    return Record(dataset="made", sample="a", truth=truth, options=ASKED, elapsed_s=1.0, answer=answer, run=run)
