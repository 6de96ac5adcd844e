"""Recorded requests of an acceptance run, with turns and calls that went wrong."""

from support.made_answers import an_answer
from tts.domain.answer import RunCount, StopReason
from tts.domain.events import Routed
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.plan import Locatability, Plan, PlanDepth
from tts.domain.request import LocateOptions
from tts.domain.tooling import ToolCall, ToolFailure, ToolResult
from tts.domain.trajectory import Run, Trajectory, Turn
from tts.domain.usage import Usage
from tts.eval.acceptance.acceptance import OWN, assess
from tts.eval.acceptance.fitting import CalibrationFit
from tts.eval.runs.record import Record
from tts.eval.sample import Truth

TRUTH = LatLon(lat=46.19278, lon=9.01703)


ENGINES = (
    {"name": "openai", "model": "m"},
    {"name": "vllm", "model": "m"},
    {"name": "scripted"},
)


def call(number, query="x", name="poi_keyword_search"):
    return ToolCall(id=f"c{number}", name=name, arguments={"query": query, "country": "CH"})


def result(number, kind=None):
    failure = None if kind is None else ToolFailure(kind=kind, detail="no")
    return ToolResult(call_id=f"c{number}", name="poi_keyword_search", text="", failure=failure)


def turn(index, calls=(), results=(), **more):
    return Turn(index=index, calls=tuple(calls), results=tuple(results), finished=True, **more)


def rollout(number, turns=(), point=TRUTH, stop=StopReason.ANSWERED, **more):
    answer = None if point is None else Hypothesis(point=point)
    return Trajectory(rollout_id=number, turns=tuple(turns), stop_reason=stop, answer=answer, **more)


def run_of(*rollouts, tools=True):
    plan = Plan(depth=PlanDepth.DEEP, n_asked=8, n_planned=8, use_tools=tools)
    routed = Routed(locatability=Locatability(score=0.5, method="fixed"), plan=plan)
    return Run(routed=routed, rollouts={one.rollout_id: one for one in rollouts})


def record(number=0, *rollouts, tag=OWN, failure="", answer=None, seconds=2.0, **usage):
    made = (
        None
        if failure
        else answer or an_answer(n=RunCount(asked=2, planned=2, run=2, answered=2), usage=Usage(**usage))
    )
    return Record(
        dataset="accept", sample=f"s{number}", tags=(tag,), truth=Truth(point=TRUTH, country_code="CH"),
        options=LocateOptions(), elapsed_s=seconds, failure=failure, answer=made, run=run_of(*rollouts),
    )  # fmt: skip


def assess_records(records, args, names, **more):
    given = {"dataset": "folder", "rollouts": 2, "left": 0, "offers_tools": True, "run_file": "r.jsonl", **more}
    return assess(records, args, names, CalibrationFit(photos=0, why="nothing was fitted"), **given)
