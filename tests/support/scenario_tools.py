"""The tools of a scenario, as the benchmark of the verifier's questions has them."""

from geotts_benchmarks.verifier.scenario_tools import ScenarioTools

__all__ = ["ScenarioTools"]
