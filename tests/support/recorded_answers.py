"""Recorded answers to made-up photos, so many km from the true place."""

from tts.domain.answer import Answer, Radius, RunCount, StopReason, Timing
from tts.domain.events import Answered, Event, RolloutFinished, RolloutStarted, ToolResulted
from tts.domain.geo import LatLon, destination
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.request import LocateOptions
from tts.domain.tooling import PlaceFact, ToolResult
from tts.domain.trajectory import fold
from tts.domain.usage import Usage
from tts.eval.runs.record import Record
from tts.eval.runs.runner import RunSetup
from tts.eval.sample import Truth

HERE = LatLon(lat=48.85, lon=2.35)
SETUP = RunSetup("made", LocateOptions(seed=1))


def an_answer(error_km=0.0, *, confidence=0.5, abstained=False, country="France", city="Paris", radius_km=50.0):
    point = destination(HERE, bearing_deg=90, distance_km=error_km)
    return Answer(
        lat=None if abstained else round(point.lat, 6),
        lon=None if abstained else round(point.lon, 6),
        radius_km=None if abstained else Radius(p50=radius_km / 3, p90=radius_km),
        level=Level.NONE if abstained else Level.CITY,
        abstained=abstained,
        country=country,
        city=city,
        confidence=confidence,
        target_radius_km=25.0,
        n=RunCount(asked=2, planned=2, run=2, answered=2),
        stop_reason=StopReason.ANSWERED,
        usage=Usage(tool_calls=4, prompt_tokens=90, completion_tokens=10),
        timing=Timing(total_s=1.0),
    )


def a_run(error_km=0.0, rollouts_km=(), **answer):
    events: list[Event] = []
    for i, km in enumerate(rollouts_km):
        point = None if km is None else destination(HERE, bearing_deg=0, distance_km=km)
        fact = PlaceFact(id="gn:1", name="Paris", point=HERE)
        events += [
            RolloutStarted(rollout_id=i, seed=i),
            ToolResulted(rollout_id=i, turn=0, result=ToolResult(call_id="1", name="t", text="x", facts=(fact,))),
            RolloutFinished(rollout_id=i, stop_reason=StopReason.ANSWERED, answer=Hypothesis(point=point)),
        ]
    return fold([*events, Answered(answer=an_answer(error_km, **answer))])


def record(sample, run, **more):
    base = Record(dataset="made", sample=sample, truth=Truth(point=HERE, country="France", city="Paris"),
                  options=SETUP.options, elapsed_s=1.0)  # fmt: skip
    answer = run.answer if run else None
    return base.model_copy(update={"answer": answer, "run": run and run.model_copy(update={"answer": None}), **more})
