"""Makes the toolbox of a configuration: the broker with its cache, its providers and its egress log."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deployments.config import AppArgs
from deployments.wiring.released_system import released_system_of, released_texts
from tools.external.catalog import external_tools
from tools.provider_assembly import Catalog, OfflineProviders, build_catalog
from tools.providers.offline_maps import OfflineMaps
from tools.providers.offline_places import OfflinePlaces
from tools.providers.tape import TapeSearch
from tools.registry import ToolParts, make_own_tools
from tts.config import ToolsConfig
from tts.egress.log_file import EgressLog
from tts.errors import ConfigError
from tts.geodata.countries import Countries
from tts.geodata.store import DataStore
from tts.ports.toolbox import Toolbox
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore
from tts.toolkit.broker.open_store import open_store
from tts.toolkit.tape.file import read_tape
from tts.toolkit.tape.similar_searches import SearchTape
from tts.toolkit.tape.tape_toolboxes import RecordingToolbox, ReplayToolbox


@dataclass(frozen=True, slots=True)
class Tooling:
    """What serves tool calls in one process. `toolbox` is what callers use."""

    toolbox: Toolbox
    broker: Broker
    catalog: Catalog
    egress_log: EgressLog

    async def aclose(self) -> None:
        """Close the providers' connections, then the broker with its cache."""
        await self.catalog.aclose()
        await self.broker.aclose()


def make_tooling(args: AppArgs, environment: Mapping[str, str] | None = None) -> Tooling:
    """The configured tools behind one broker; in a replay of a tape, those that need nothing.

    Raises:
        ConfigError: a provider lacks its key or address, or the cache's URL is none.
        DataError: the embedded data is missing.
        StoreError: the cache's file cannot be used.
    """
    data, countries = DataStore(args.data_dir), Countries()
    places = OfflinePlaces(data.gazetteer(), countries)
    offline = OfflineProviders(places, places, OfflineMaps(data.cartographer()))
    tools = args.tools
    if tools.replays:
        tools = tools.model_copy(update={"providers": ("offline",), "cache": "memory:"})
    store = open_store(tools.cache)
    log = EgressLog(Path(tools.outgoing_log).expanduser() if tools.outgoing_log else None)
    catalog = build_catalog(
        tools,
        offline,
        store,
        environment=os.environ if environment is None else environment,
        record=log,
        system=released_system_of(args),
        texts=released_texts(args),
        public_url=args.gateway.public_url,
    )
    if not tools.replays:
        catalog.tools += external_tools(tools.mcp, log, environment=os.environ if environment is None else environment)
    broker = Broker(
        catalog.tools,
        store,
        providers=catalog.figures,
        ttl_s=tools.ttl_s,
        photo_kept_s=args.gateway.retention_s,
    )
    return Tooling(broker, broker, catalog, log)


def apply_tape(toolbox: Toolbox, config: ToolsConfig) -> Toolbox:
    """`toolbox` as the configuration's tape has it: recorded, replayed, or as it is.

    Raises:
        DataError: the tape to replay is not there or is none.
    """
    tape = config.tape
    if tape is None:
        return toolbox
    path = Path(tape.path).expanduser()
    if tape.mode == "record":
        return RecordingToolbox(toolbox, path)
    played = read_tape(path)
    if tape.misses == "live":
        return ReplayToolbox(played, toolbox)
    alike = TapeSearch(SearchTape.from_rows(played.rows, iou=tape.iou, jaccard=tape.jaccard))
    searches = make_own_tools(ToolParts(web=alike, recordings=alike), local=False)
    return ReplayToolbox(played, Broker(searches, MemoryStore()))


def refuse_file_across_nodes(args: AppArgs, *, nodes: int) -> None:
    """SQLite locks are not to be trusted on network file systems. Raises ConfigError on more than one node."""
    several = args.deployments.tools.most_replicas > 1
    if nodes > 1 and several and args.tools.cache.startswith("sqlite"):
        raise ConfigError(f"tools.cache is a file, the cluster has {nodes} nodes: use redis:// or a single replica")
