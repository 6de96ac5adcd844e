"""See `geotts_client.budget`: the client and the service share these values."""

from geotts_client.budget import Budget as Budget
from geotts_client.budget import BudgetUse as BudgetUse
from geotts_client.budget import budget_of as budget_of
