"""Makes the parts of the system from the configuration. Used by every deployment and by the in-process composition."""

from __future__ import annotations

import importlib.metadata
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from tools import local_tools
from tts.clues.reader import ClueReader
from tts.config import AppArgs, CluesEngine, Engine, OpenAIEngine, ScriptedEngine, VllmEngine
from tts.dialects import DIALECTS
from tts.dialects.base import Dialect, prompt_hash
from tts.dialects.settings import DialectSettings, SamplingSettings
from tts.ensemble.guesses import TownCentres
from tts.errors import ConfigError
from tts.geodata.countries import Countries
from tts.geodata.store import DataStore
from tts.inference.clues_engine import CluesModel
from tts.inference.observed import ObservedModel
from tts.inference.openai_client import OpenAIModel
from tts.inference.scripted import ScriptedModel
from tts.inference.vllm_engine import VllmModel
from tts.ports import Identity, Locator, ModelClient, Perception, Verifier, WatchSettings
from tts.routing.locatability import CuesLocator, FixedLocator
from tts.routing.predictor import load_predictor
from tts.routing.probe import ProbeLocator
from tts.routing.segmentation import Segmenter, VisualLocator
from tts.toolkit.toolbox import LocalToolbox
from tts.verify.calibration import load, shipped
from tts.verify.consensus import ConsensusVerifier
from tts.verify.consistency import ConsistencyAgent, ConsistencyVerifier
from tts.verify.llm import ModelVerifier
from tts.verify.world import World

_SAMPLED = SamplingSettings(temperature=0.7)


def make_model(args: AppArgs, engine: Engine | None = None) -> ModelClient:
    """The engine of the rollouts, or another one (the verifier's)."""
    engine = engine or args.engine
    if isinstance(engine, CluesEngine):
        return CluesModel(engine, clue_reader(args.data_dir))
    if isinstance(engine, ScriptedEngine):
        return ScriptedModel(engine)
    if isinstance(engine, OpenAIEngine):
        return OpenAIModel(engine)
    if isinstance(engine, VllmEngine):
        return VllmModel(engine)
    raise ConfigError(f"there is no engine {engine!r}")


@lru_cache(maxsize=2)
def clue_reader(data_dir: str | None) -> ClueReader:
    """One a process: engine and verifier share its tables."""
    store = DataStore(data_dir)
    return ClueReader(store.gazetteer(), store.lexicon(), Countries())


def make_world(data_dir: str | None) -> World:
    """The geography that checks need, with what weighs lines of lettering."""
    reader = clue_reader(data_dir)
    return World(reader.gazetteer, reader.countries, reader)


def make_agent_model(args: AppArgs) -> ModelClient:
    """What rollouts think with: the engine, with an observer beside it when one is configured."""
    model = make_model(args)
    return model if args.observer is None else ObservedModel(model, make_model(args, args.observer))


def make_dialect(name: str, args: AppArgs) -> Dialect:
    """The dialect; with the configured changes when it is the configured one. Raises ConfigError with the names.

    A rollout of the embedded engine is a sample when it is alone, too: one reading of the photo, not all of them.
    """
    dialect = DIALECTS.get(name)
    if dialect is None:
        raise ConfigError(f"there is no dialect {name!r}; there are: {', '.join(sorted(DIALECTS))}")
    settings = args.dialect_settings if name == args.dialect else DialectSettings()
    if isinstance(args.engine, CluesEngine) and settings.alone is None:
        settings = settings.model_copy(update={"alone": _SAMPLED})
    return _configured(name, settings)


@lru_cache(maxsize=16)
def _configured(name: str, settings: DialectSettings) -> Dialect:
    """Made once: prompt files are not read again for every group."""
    return DIALECTS[name].configured(settings)


def make_local_toolbox(perception: Perception) -> LocalToolbox:
    return LocalToolbox(local_tools(perception))


def make_locator(args: AppArgs, perception: Perception) -> Locator:
    routing = args.routing
    if routing.method == "fixed":
        return FixedLocator(routing.fixed_score)
    predictor = load_predictor(Path(routing.depth_calibration)) if routing.depth_calibration else None
    cues = CuesLocator(perception, predictor)
    if routing.method == "visual" and routing.segmentation_model:
        return VisualLocator(Segmenter(routing.segmentation_model), cues, predictor)
    if routing.method == "probe":
        if str(args.engine.name) == "vllm":
            raise ConfigError("routing method probe would load the engine a second time; point an openai engine at it")
        return ProbeLocator(make_model(args), cues, predictor)
    return cues


def make_watch(args: AppArgs) -> WatchSettings:
    """The watch's settings; the gazetteer behind it is mapped, not loaded."""
    guesses = TownCentres(DataStore(args.data_dir).gazetteer()) if args.routing.stop.startswith("worth") else None
    return WatchSettings(stop=args.routing.stop, stragglers=args.routing.stragglers, guesses=guesses)


def make_verifier(args: AppArgs, rollout_model: ModelClient | None = None) -> Verifier:
    """`rollout_model` is the engine of the rollouts, for a verifier model that has none of its own."""
    world = make_world(args.data_dir)
    config = args.verifier
    calibration = load(config.calibration) if config.calibration is not None else shipped(args.engine.name)
    consensus = ConsensusVerifier(world, calibration)
    if config.kind == "consensus":
        return _consistent(consensus, world, args, rollout_model)
    model = make_model(args, config.engine) if config.engine is not None else rollout_model
    if model is None:
        raise ConfigError("verifier.kind is model, but there is no engine for it")
    return _consistent(ModelVerifier(model, consensus, config), world, args, rollout_model)


def _consistent(verifier: Verifier, world: World, args: AppArgs, rollout_model: ModelClient | None) -> Verifier:
    """The verifier with the consistency agent behind it, when one is configured."""
    config = args.verifier.consistency
    if config is None:
        return verifier
    if config.engine is None and rollout_model is None and isinstance(args.engine, VllmEngine):
        raise ConfigError("verifier.consistency needs an engine of its own beside vllm")
    second = make_model(args, config.engine) if config.engine is not None else rollout_model or make_model(args)
    return ConsistencyVerifier(verifier, ConsistencyAgent(second, world, config), config)


def verifier_name(args: AppArgs) -> str:
    """For provenance: `consensus`, or the mode and the engine of the model."""
    config = args.verifier
    if config.kind == "consensus":
        return "consensus"
    return f"{config.mode} by {(config.engine or args.engine).name}"


def remote_engines(args: AppArgs) -> tuple[str, ...]:
    """Hosts of the engines that are sent photos: of rollouts, of their observer, and of the verifier model."""
    verifier = args.verifier.engine if args.verifier.kind == "model" and args.verifier.show_photo else None
    engines = (args.engine, args.observer, verifier)
    hosts = [urlsplit(engine.base_url).hostname for engine in engines if isinstance(engine, OpenAIEngine)]
    return tuple(dict.fromkeys(host for host in hosts if host))


def _model_name(engine: Engine) -> str:
    """The model an engine is told to use; the engine itself where it has none, or takes the first it finds."""
    named = engine.model if isinstance(engine, OpenAIEngine | VllmEngine) else ""
    return named or engine.name


def make_identity(args: AppArgs) -> Identity:
    dialect = make_dialect(args.dialect, args)
    return Identity(
        version=importlib.metadata.version("geotts"),
        engine=args.engine.name,
        model=_model_name(args.engine),
        dialect=dialect.name,
        verifier=verifier_name(args),
        prompt_sha256=prompt_hash(dialect),
        providers=args.tools.providers,
        remote_engines=remote_engines(args),
        data_versions={
            f"{status.name}.{name}": version
            for status in DataStore(args.data_dir).status(deep=False)
            for name, version in status.versions.items()
        },
    )
