"""See `geotts_client.failure`: the client and the service share these values."""

from geotts_client.failure import (
    FailureCause,
    RolloutFailure,
)

__all__ = ["FailureCause", "RolloutFailure"]
