"""See `geotts_client.plan`: the client and the service share these values."""

from geotts_client.plan import (
    MAX_DRAWS,
    Depth,
    Limits,
    Locatability,
    Plan,
    PlanDepth,
)

__all__ = ["MAX_DRAWS", "Depth", "Limits", "Locatability", "Plan", "PlanDepth"]
