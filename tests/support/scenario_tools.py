"""The tools of a scenario, as the benchmark of the verifier's questions has them."""

from tts.eval.synthetic.scenario_tools import ScenarioTools

__all__ = ["ScenarioTools"]
