"""See `geotts_client.plan`: the client and the service share these values."""

from geotts_client.plan import MAX_DRAWS as MAX_DRAWS
from geotts_client.plan import Depth as Depth
from geotts_client.plan import Limits as Limits
from geotts_client.plan import Locatability as Locatability
from geotts_client.plan import Plan as Plan
from geotts_client.plan import PlanDepth as PlanDepth
