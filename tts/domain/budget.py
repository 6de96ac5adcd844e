"""See `geotts_client.budget`: the client and the service share these values."""

from geotts_client.budget import (
    Budget,
    BudgetUse,
    budget_of,
)

__all__ = ["Budget", "BudgetUse", "budget_of"]
