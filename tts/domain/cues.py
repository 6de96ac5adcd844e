"""See `geotts_client.cues`: the client and the service share these values."""

from geotts_client.cues import (
    Cues,
    ExplicitCue,
    ImplicitCue,
)

__all__ = ["Cues", "ExplicitCue", "ImplicitCue"]
