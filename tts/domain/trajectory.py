"""See `geotts_client.trajectory`: the client and the service share these values."""

from geotts_client.trajectory import (
    Run,
    Trajectory,
    Turn,
    fold,
)

__all__ = ["Run", "Trajectory", "Turn", "fold"]
