"""The list of dialects. Adding one is one file and one entry here."""

from __future__ import annotations

from tts.dialects.base import Dialect
from tts.dialects.generic import GenericDialect
from tts.dialects.geo_adapt import GeoAdaptDialect
from tts.dialects.geoagent import GeoAgentDialect
from tts.dialects.geovista import GeoVistaDialect
from tts.dialects.reverse import ReverseDialect
from tts.dialects.spotagent import SpotAgentDialect
from tts.dialects.thinking_with_map import ThinkingWithMapDialect

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
