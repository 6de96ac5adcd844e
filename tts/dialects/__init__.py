"""The list of dialects. Adding one is one file and one entry here."""

from __future__ import annotations

from tts.dialects.base import Dialect
from tts.dialects.served.generic import GenericDialect
from tts.dialects.served.geo_adapt import GeoAdaptDialect
from tts.dialects.served.geoagent import GeoAgentDialect
from tts.dialects.served.geovista import GeoVistaDialect
from tts.dialects.served.reverse import ReverseDialect
from tts.dialects.served.spotagent import SpotAgentDialect
from tts.dialects.served.thinking_with_map import ThinkingWithMapDialect

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        GenericDialect(),
        ThinkingWithMapDialect(),
        ReverseDialect(),
        SpotAgentDialect(),
        GeoAgentDialect(),
        GeoAdaptDialect(),
        GeoVistaDialect(),
    )
}

__all__ = ["DIALECTS"]
