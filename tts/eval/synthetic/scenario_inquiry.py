"""What the verifier decides about a scenario after its own questions: the production code with made-up tools."""

from __future__ import annotations

from tts.config import VerifierConfig
from tts.domain.geo import LatLon
from tts.domain.request import MAX_QUESTIONS, LocateOptions, RequestContext
from tts.eval.synthetic.scenario import Scenario
from tts.eval.synthetic.scenario_tools import ScenarioTools
from tts.ports.verification import VerifierItem, VerifyRequest
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge
from tts.verify.verifiers.tool_calling import Questioner

_TIMEOUT_S = 3600.0


async def decide_with_questions(scenario: Scenario, world: World, questions: int) -> tuple[LatLon | None, int]:
    """The answer after at most so many tool calls of the verifier, and how many it made."""
    tools = ScenarioTools(scenario, world.gazetteer)
    questioner = Questioner(tools, world, VerifierConfig(max_questions=MAX_QUESTIONS))
    context = RequestContext(id=scenario.key, remaining_s=_TIMEOUT_S)
    options = LocateOptions(verifier_questions=questions)
    request = VerifyRequest(context, (), options, scenario.trajectories, scenario.readings)
    judgement = judge(scenario.trajectories, scenario.readings, world)
    clusters = (await questioner.ask_open_questions(request, judgement, _ignore_item)).clusters
    return (clusters[0].centre if clusters else None), tools.calls


async def _ignore_item(_: VerifierItem) -> None:
    """Nobody follows the events of a scenario."""
