"""Rollouts of tests that play recorded replies and tools: those of the benchmark that compares released behaviour."""

from geotts_benchmarks.released_rows.played_rollout import made_photo, played_rollout
from geotts_benchmarks.released_rows.played_tools import played_toolbox
from geotts_benchmarks.released_rows.played_transport import PlayedTransport

__all__ = ["PlayedTransport", "made_photo", "played_rollout", "played_toolbox"]
