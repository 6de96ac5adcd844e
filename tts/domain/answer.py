"""See `geotts_client.answer`: the client and the service share these values."""

from geotts_client.answer import (
    CONTINENT_KM,
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
    "CONTINENT_KM",
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
