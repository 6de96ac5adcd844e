"""See `geotts_client.hypothesis`: the client and the service share these values."""

from geotts_client.hypothesis import (
    Claim,
    Hypothesis,
    Level,
)

__all__ = ["Claim", "Hypothesis", "Level"]
