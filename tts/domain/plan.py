"""See `geotts_client.plan`: the client and the service share these values."""

from geotts_client.plan import (
    Depth,
    Limits,
    Locatability,
    Plan,
    PlanDepth,
)

__all__ = ["Depth", "Limits", "Locatability", "Plan", "PlanDepth"]
