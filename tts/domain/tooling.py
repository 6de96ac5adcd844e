"""See `geotts_client.tooling`: the client and the service share these values."""

from geotts_client.tooling import (
    CountryFact,
    Datum,
    Fact,
    ImageRef,
    PlaceFact,
    TextFact,
    ToolCall,
    ToolErrorKind,
    ToolFailure,
    ToolResult,
    ViewFact,
    WebFact,
)

__all__ = [
    "CountryFact",
    "Datum",
    "Fact",
    "ImageRef",
    "PlaceFact",
    "TextFact",
    "ToolCall",
    "ToolErrorKind",
    "ToolFailure",
    "ToolResult",
    "ViewFact",
    "WebFact",
]
