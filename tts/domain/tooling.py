"""See `geotts_client.tooling`: the client and the service share these values."""

from geotts_client.tooling import CountryFact as CountryFact
from geotts_client.tooling import Datum as Datum
from geotts_client.tooling import Fact as Fact
from geotts_client.tooling import ImageRef as ImageRef
from geotts_client.tooling import PlaceFact as PlaceFact
from geotts_client.tooling import TextFact as TextFact
from geotts_client.tooling import ToolCall as ToolCall
from geotts_client.tooling import ToolErrorKind as ToolErrorKind
from geotts_client.tooling import ToolFailure as ToolFailure
from geotts_client.tooling import ToolResult as ToolResult
from geotts_client.tooling import ViewFact as ViewFact
from geotts_client.tooling import WebFact as WebFact
