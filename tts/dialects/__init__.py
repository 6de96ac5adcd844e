"""The table of dialects: each has one file and one entry; other packages add dialects by `geotts.dialects`."""

from __future__ import annotations

from tts.dialects.base import Dialect
from tts.dialects.served.generic import GenericDialect
from tts.dialects.served.geo_adapt import GeoAdaptDialect
from tts.dialects.served.geoagent import GeoAgentDialect
from tts.dialects.served.geovista import GeoVistaDialect
from tts.dialects.served.reverse import ReverseDialect
from tts.dialects.served.spotagent import SpotAgentDialect
from tts.dialects.served.thinking_with_map import ThinkingWithMapDialect
from tts.extensions import Registry

_OWN_DIALECTS: tuple[Dialect, ...] = (
    GenericDialect(),
    ThinkingWithMapDialect(),
    ReverseDialect(),
    SpotAgentDialect(),
    GeoAgentDialect(),
    GeoAdaptDialect(),
    GeoVistaDialect(),
)
DIALECTS: Registry[Dialect] = Registry("geotts.dialects", {dialect.name: dialect for dialect in _OWN_DIALECTS})
