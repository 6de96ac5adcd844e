"""A server that answers like each provider, from its documented samples (tests/fixtures/providers)."""

from __future__ import annotations

import io
import json
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from support.rude_server import Reply, RudeServer, Seen, as_json, rude_server
from tools.provider_assembly import Catalog, OfflineProviders, build_catalog
from tools.provider_lookup import PROVIDERS
from tools.providers.offline_places import OfflinePlaces
from tts.config import RegionSearchConfig, ToolsConfig
from tts.egress.records import EGRESS
from tts.net.secret import Scrubber
from tts.toolkit.broker.cache_store import MemoryStore

FIXTURES = Path(__file__).parents[1] / "fixtures" / "providers"
KEYS = {
    **{name: f"{name.lower()}-secret-1" for provider in PROVIDERS.values() if (name := provider.key_variable)},
    "GEOTTS_UPLOAD_SECRET": "Bearer upload-secret-1",
}
PUBLIC_URL = "https://photos.example"


def samples(provider: str) -> dict[str, Any]:
    return json.loads((FIXTURES / f"{provider}.json").read_text())


def picture(size: tuple[int, int] = (256, 256)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (40, 90, 160)).save(out, "PNG")
    return out.getvalue()


def answer_with_samples(*providers: str) -> Any:
    known = {path: entry["reply"] for provider in providers for path, entry in samples(provider).items()}

    def answer(seen: Seen) -> Reply:
        if seen.path in known:
            return as_json(known[seen.path])
        if seen.path.endswith((".png", "/staticmap")):
            return 200, {"content-type": "image/png"}, picture()
        return as_json({"error": "unknown path"}, status=404)

    return answer


def config_for(
    server: RudeServer, *providers: str, region_search: RegionSearchConfig | None = None, **settings: Any
) -> ToolsConfig:
    """Every named provider at this server, in a hurry."""
    urls = {kind: server.url for kind in ("nominatim", "photon", "overpass")}
    urls["tiles"] = server.url + "/{z}/{x}/{y}.png"
    hurried = {"per_s": 1000.0, "burst": 1000.0, "max_running": 16, "timeout_s": 14.0, "retries": 0, **settings}
    each = {
        name: {**hurried, **({"urls": urls} if name == "osm" else {"base_url": server.url})}
        for name in providers
        if name != "offline"
    }
    return ToolsConfig(providers=providers, settings=each, region_search=region_search or RegionSearchConfig())


@asynccontextmanager
async def served_providers(
    *providers: str,
    gazetteer: Any,
    countries: Any,
    answer: Any = None,
    record: Any = EGRESS.record,
    system: str = "",
    **settings: Any,
) -> Any:
    """(server, catalog) with the providers set up against a local server that answers their samples."""
    async with rude_server(answer or answer_with_samples(*(name for name in providers if name != "offline"))) as server:
        places = OfflinePlaces(gazetteer, countries)
        catalog: Catalog = build_catalog(
            config_for(server, *providers, **settings),
            OfflineProviders(places, places),
            MemoryStore(),
            environment=KEYS,
            scrubber=Scrubber(),
            record=record,
            public_url=PUBLIC_URL,
            system=system,
        )
        try:
            yield server, catalog
        finally:
            await catalog.aclose()
