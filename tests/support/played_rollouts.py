"""Rollouts of tests that play recorded replies and tools: those of the benchmark that compares released behaviour."""

from geotts_benchmarks.released_rows.geovista.subject import as_tavily
from geotts_benchmarks.released_rows.played_model import PlayedModel
from geotts_benchmarks.released_rows.played_rollout import made_photo, played_rollout
from geotts_benchmarks.released_rows.played_tools import played_toolbox
from geotts_benchmarks.released_rows.played_transport import PlayedTransport
from geotts_benchmarks.released_rows.reverse.played_conversation import play as play_reverse
from geotts_benchmarks.released_rows.reverse.services import MadeUpLens, MadeUpPages

__all__ = [
    "MadeUpLens",
    "MadeUpPages",
    "PlayedModel",
    "PlayedTransport",
    "as_tavily",
    "made_photo",
    "play_reverse",
    "played_rollout",
    "played_toolbox",
]
