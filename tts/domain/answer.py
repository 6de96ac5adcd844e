"""See `geotts_client.answer`: the client and the service share these values."""

from geotts_client.answer import (
    Answer,
    Candidate,
    Contradiction,
    Evidence,
    HintOutcome,
    PhotoAnswer,
    Provenance,
    Radius,
    RolloutStatus,
    Route,
    RunCount,
    Share,
    StopReason,
    Timing,
    Verdict,
)

__all__ = [
    "Answer",
    "Candidate",
    "Contradiction",
    "Evidence",
    "HintOutcome",
    "PhotoAnswer",
    "Provenance",
    "Radius",
    "RolloutStatus",
    "Route",
    "RunCount",
    "Share",
    "StopReason",
    "Timing",
    "Verdict",
]
