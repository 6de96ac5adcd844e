"""Calls of tools by a request that lets regions of its photo leave, for the tests of providers."""

from functools import cache

from support.basics import a_context, sign_bytes
from tts.config import RegionSearchConfig
from tts.config.provider_names import OWN_NAMES, searches_pictures
from tts.domain.photo_cleaning import load_photo
from tts.domain.request import LocateOptions
from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolContext
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore

REGIONS = tuple(name for name in OWN_NAMES if searches_pictures(name))

ALLOWED = RegionSearchConfig(allowed=True)


@cache
def consenting_context(**options):
    photo = load_photo(sign_bytes("Otaru"))
    return ToolContext(a_context(), (photo,), LocateOptions(**{"allow_region_search": True, **options}))


async def call(catalog, name, *, context=None, **arguments):
    broker = Broker(catalog.tools, MemoryStore())
    return await broker.call(ToolCall(id="c", name=name, arguments=arguments), context or consenting_context())


REGION = {"bbox": [0.1, 0.1, 0.9, 0.9]}
