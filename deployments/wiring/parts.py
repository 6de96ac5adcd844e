"""Makes the parts of the system from the configuration. Used by every deployment and by the in-process composition."""

from __future__ import annotations

import importlib.metadata
import logging
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from deployments.config import AppArgs, DeploymentConfig
from deployments.wiring.possible_ways import possible_ways
from deployments.wiring.released_system import released_system_of, released_texts
from deployments.wiring.tool_findings import tools_note
from tools.registry import ToolParts, make_tools
from tools.released.catalog import released_local_tools
from tts.clues.clue_reader import ClueReader
from tts.config import CluesEngine, Engine, OpenAIEngine, ScriptedEngine, VerifierConfig, VllmEngine
from tts.config.setting_names import OF_CONSISTENCY, OF_ENGINE, OF_MEMBER, OF_OBSERVER, OF_VERIFIER, SettingNames
from tts.config.verifier import VERIFIERS
from tts.dialects import DIALECTS
from tts.dialects.base import Dialect, Task, prompt_hash
from tts.dialects.released.importing import IMPORTABLE
from tts.dialects.released.released_dialect import ReleasedDialect
from tts.dialects.settings import DialectSettings, SamplingSettings
from tts.domain.identity import Identity
from tts.domain.stop_experience import StopExperience
from tts.domain.stop_settings import WatchSettings
from tts.domain.stop_table import StopTable, shipped_stop_table
from tts.domain.token_price import Price
from tts.ensemble.guesses import TownCentres
from tts.errors import ConfigError
from tts.gallery.gallery import PhotoGallery
from tts.geodata.countries import Countries
from tts.geodata.store import DataStore
from tts.inference.clues.engine import CluesModel
from tts.inference.openai.endpoint.list_prices import shipped_prices
from tts.inference.openai.engine import OpenAIModel
from tts.inference.openai.pool import EndpointPool
from tts.inference.scripted.engine import ScriptedModel
from tts.inference.vllm.engine import VllmModel
from tts.inference.with_observer import ModelWithObserver
from tts.net.url_secrets import bare_url
from tts.ports.locator import Locator
from tts.ports.model_client import ModelClient
from tts.ports.perception import Perception
from tts.ports.similar_photos import Gallery
from tts.ports.verification import Verifier
from tts.routing.budget_planner import BudgetPlanner
from tts.routing.budget_table import BudgetTable, shipped_budget_table
from tts.routing.depth_router import DepthRouter, DialectBudget
from tts.routing.locatability import CuesLocator, FixedLocator
from tts.routing.predictor import DepthPredictor, load_predictor
from tts.routing.probe import ProbeLocator
from tts.routing.reasons import NO_DRAWS
from tts.routing.segmentation import Segmenter, VisualLocator
from tts.toolkit.toolbox import LocalToolbox
from tts.verify.claims.claim_calibration import shipped_claim_calibration
from tts.verify.consensus.calibration_in_use import calibration_in_use, reliability_in_use
from tts.verify.evidence.world import World
from tts.verify.model.reasoning import thinks_by_name
from tts.verify.verifiers.calibration_state import CalibrationStateVerifier
from tts.verify.verifiers.claim import ClaimVerifier
from tts.verify.verifiers.consensus import ConsensusVerifier
from tts.verify.verifiers.consistency import ConsistencyAgent, ConsistencyVerifier
from tts.verify.verifiers.model import ModelVerifier
from tts.verify.verifiers.published_verifier import TrajectoryTexts
from tts.verify.verifiers.question_limit import QuestionLimitVerifier
from tts.verify.verifiers.tool_calling import InquiryVerifier, Questioner, Tools
from tts.verify.verifiers.walk import WalkVerifier

_log = logging.getLogger(__name__)
_SAMPLED_SETTINGS = SamplingSettings(temperature=0.7)


def make_model(
    args: AppArgs,
    engine: Engine | None = None,
    deployment: DeploymentConfig | None = None,
    names: SettingNames | None = None,
) -> ModelClient:
    """The engine of the rollouts, or another one. `deployment`: where it works; with the rollouts when absent.
    `names`: its settings in advice; those of the engine of the rollouts when absent."""
    names = names or (OF_MEMBER if args.engines else OF_ENGINE)
    engine = engine or args.engine
    if isinstance(engine, CluesEngine):
        return CluesModel(engine, clue_reader(args.data_dir))
    if isinstance(engine, ScriptedEngine):
        return ScriptedModel(engine)
    if isinstance(engine, OpenAIEngine):
        return EndpointPool(engine, names) if engine.base_urls else OpenAIModel(engine, names=names)
    if isinstance(engine, VllmEngine):
        return VllmModel(engine, claimed_gpus=(deployment or args.deployments.rollout).claimed_gpus, names=names)
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
    """The engine of the rollouts, combined with an observer if one is configured."""
    model = make_model(args)
    if args.observer is None:
        return model
    return ModelWithObserver(model, make_model(args, args.observer, names=OF_OBSERVER))


def make_dialect(name: str | None, args: AppArgs) -> Dialect:
    """The dialect that a request asks for; the configured one for None, or for its name, with the configured changes.
    Raises ConfigError with the names.

    A rollout of the embedded engine is a sample when it is alone, too: one reading of the photo, not all of them.
    """
    name = args.dialect if name is None else name
    if name not in DIALECTS:
        raise ConfigError(f"there is no dialect {name!r}; there are: {', '.join(sorted(DIALECTS))}")
    settings = args.dialect_settings if name == args.dialect else DialectSettings()
    if isinstance(args.engine, CluesEngine) and settings.alone is None:
        settings = settings.model_copy(update={"alone": _SAMPLED_SETTINGS})
    return _configured_dialect(name, settings)


@lru_cache(maxsize=16)
def _configured_dialect(name: str, settings: DialectSettings) -> Dialect:
    """Made once: prompt files are not read again for every group."""
    dialect = DIALECTS[name].with_settings(settings)
    asked_in_own_words = dialect.published and settings.prompt_file is None
    if asked_in_own_words and (dialect.released or name not in IMPORTABLE):
        _log.warning(
            "%s is served%s with prompts of GeoTTS: import those of its authors with `geotts profile import %s %s`",
            name,
            " as released, but" if dialect.released else "",
            name.replace("_", "-"),
            "CHECKOUT" if name in IMPORTABLE else "--system-text FILE --task-text FILE",
        )
    return dialect


def draws_note(args: AppArgs) -> tuple[str, ...]:
    """What every answer says if the configuration asks for answer draws and the dialect of some rollouts has none."""
    if (args.limits.answer_draws or 1) == 1:
        return ()
    names = {member.dialect or args.dialect for member in args.engines} or {args.dialect}
    return (NO_DRAWS,) if any(make_dialect(name, args).released for name in names) else ()


def make_gallery(args: AppArgs) -> Gallery | None:
    """None where none is configured. Raises ConfigError or DataError when it cannot be used."""
    return None if args.gallery is None else PhotoGallery(args.gallery)


def make_local_toolbox(perception: Perception, args: AppArgs) -> LocalToolbox:
    """The tools beside the engine; those of a released system too, where one is served."""
    released = released_local_tools(released_system_of(args), released_texts(args))
    return LocalToolbox([*make_tools(ToolParts(perception=perception), local=True), *released])


def make_locator(args: AppArgs, perception: Perception) -> Locator:
    """The locator, which rates photos; `asking_locator` also asks the model."""
    routing = args.routing
    method = args.routing_method
    if method == "fixed":
        return FixedLocator(routing.fixed_score)
    predictor = _load_depth_predictor(args)
    cues = CuesLocator(perception, predictor)
    if method in ("visual", "leader") and routing.segmentation_model:
        return VisualLocator(Segmenter(routing.segmentation_model, _segmentation_device(args)), cues, predictor)
    return cues


def asking_locator(args: AppArgs, looking: Locator, model: ModelClient) -> Locator:
    """With method `probe` the engine of the rollouts is asked too: the one that is loaded already."""
    if args.routing_method != "probe":
        return looking
    return ProbeLocator(model, looking, _load_depth_predictor(args))


def _load_depth_predictor(args: AppArgs) -> DepthPredictor | None:
    file = args.routing.depth_calibration
    return load_predictor(Path(file)) if file else None


def _segmentation_device(args: AppArgs) -> str:
    """The GPU that the deployment of the segmentation model was given, if it was given one."""
    return "cuda" if args.deployments.locatability.num_gpus > 0 else "cpu"


def make_router(args: AppArgs) -> DepthRouter:
    """Plans for what the engine can do, within the budget of the dialect that a request speaks."""

    def budget_of(name: str | None) -> DialectBudget:
        dialect = make_dialect(name, args)
        draws = not dialect.released
        return DialectBudget(limits=dialect.limits, published=dialect.published, draws_answers=draws)

    price, planner = _mean_price(args), make_planner(args)
    return DepthRouter(args.limits, args.abilities, budget_of, price, planner, args.models)


def make_planner(args: AppArgs) -> BudgetPlanner:
    """What decides about requests with a budget. Raises ConfigError for a table that cannot be read."""
    file = args.routing.budget_table
    engine = " + ".join(dict.fromkeys(engine.name for engine in args.rollout_engines))
    try:
        table = shipped_budget_table(engine) if file is None else BudgetTable.read(Path(file))
    except (OSError, ValueError) as error:
        raise ConfigError(f"routing.budget_table: {file} is not a file of `geotts plan --runs`: {error}") from error
    return BudgetPlanner(table, engine, _mean_price(args), args.models, possible_ways(args))


def _mean_price(args: AppArgs) -> Price | None:
    """What tokens of the rollouts cost: of several engines the mean by shares; None where one has no known price."""
    if not args.engines:
        return price_of(args.engine)
    free = Price(input=0.0, output=0.0)
    prices = [price_of(m.engine) if isinstance(m.engine, OpenAIEngine) else free for m in args.engines]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None
    total = sum(member.share for member in args.engines)
    parts = [member.share / total for member in args.engines]
    return Price(
        input=sum(part * price.input for part, price in zip(parts, known, strict=True)),
        output=sum(part * price.output for part, price in zip(parts, known, strict=True)),
    )


def price_of(engine: Engine) -> Price | None:
    """What the tokens of an engine cost, as far as the configuration and the shipped table know."""
    if not isinstance(engine, OpenAIEngine):
        return None
    return engine.price or shipped_prices().price_of(engine.model)


def make_watch(args: AppArgs) -> WatchSettings:
    """The watch's settings; the gazetteer behind it is mapped, not loaded."""
    routing = args.routing
    guesses = TownCentres(DataStore(args.data_dir).gazetteer()) if routing.stop.startswith(("worth", "loss")) else None
    return WatchSettings(
        stop="none" if args.verifier.reads_trajectories else args.routing.stop,
        stragglers=args.routing.stragglers,
        guesses=guesses,
        experience=StopExperience(_stop_table(routing.stop_calibration)),
        leader=args.routing_method == "leader",
        width=args.routing.width,
        prefix_wait_s=args.prefix_wait_s,
        observer=args.observer is not None,
        diverse_first_calls=args.diverse_first_calls,
        asks_leader=not args.divides_first_calls,
    )


def _stop_table(file: str | None) -> StopTable:
    if file is None:
        return shipped_stop_table()
    try:
        return StopTable.read(Path(file))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"routing.stop_calibration: {file} is not a file of `geotts calibrate-stop`: {error}"
        ) from error


def make_verifier(args: AppArgs, rollout_model: ModelClient | None = None, tools: Tools | None = None) -> Verifier:
    """`rollout_model` is the engine of the rollouts, for a verifier model that has none of its own; `tools` is what
    the verifier may ask itself."""
    world = make_world(args.data_dir)
    in_use = calibration_in_use(args)
    reliability = reliability_in_use(args)
    consensus = ConsensusVerifier(world, in_use.calibration, reliability)
    questioner = Questioner(tools, world, args.verifier)
    verifier = _weighing_verifier(consensus, args, rollout_model, questioner)
    walking = WalkVerifier(_add_consistency_agent(verifier, world, args, rollout_model), world, in_use.calibration)
    limited = QuestionLimitVerifier(walking, args.verifier.max_questions)
    knows_draws = in_use.calibration.knows_draws
    stating = CalibrationStateVerifier(limited, in_use.state, args.dialect, knows_draws=knows_draws)
    claims = shipped_claim_calibration(args.engine.name)
    return ClaimVerifier(stating, world, in_use.calibration, claims, questioner, reliability)


def _weighing_verifier(
    consensus: ConsensusVerifier, args: AppArgs, rollout_model: ModelClient | None, questioner: Questioner
) -> Verifier:
    """The consensus, with a model that weighs the evidence first when one is configured."""
    config = args.verifier
    if config.kind == "consensus":
        return InquiryVerifier(consensus, questioner)
    if config.kind != "model":
        return VERIFIERS[config.kind](consensus, args)
    model = rollout_model
    if config.engine is not None:
        model = make_model(args, config.engine, args.deployments.verifier, OF_VERIFIER)
    if model is None:
        raise ConfigError("verifier.kind is model, but there is no engine for it")
    asking = questioner if config.may_ask else None
    return ModelVerifier(model, consensus, _verifier_config(config, args), trajectory_texts(args), asking)


def _verifier_config(config: VerifierConfig, args: AppArgs) -> VerifierConfig:
    """The configuration with whether the verifier's model thinks, which its name says where nobody else does."""
    if config.thinks is not None:
        return config
    engine = config.engine or args.engine
    stated = engine.thinks if isinstance(engine, OpenAIEngine) else None
    return config.model_copy(update={"thinks": thinks_by_name(_model_name(engine)) if stated is None else stated})


def trajectory_texts(args: AppArgs) -> TrajectoryTexts:
    """The published verifier's texts, with the task in the words that the rollouts get."""
    if args.verifier.mode != "trajectories":
        return TrajectoryTexts()
    dialect = make_dialect(args.dialect, args)
    opening = "".join(f"{message.role}\n{message.text}\n" for message in dialect.opening(Task(photos=())))
    texts = dialect.texts if isinstance(dialect, ReleasedDialect) else {}
    return TrajectoryTexts.from_imported(texts, f"{opening}assistant\n")


def _add_consistency_agent(
    verifier: Verifier, world: World, args: AppArgs, rollout_model: ModelClient | None
) -> Verifier:
    """The verifier with the consistency agent behind it, when one is configured."""
    config = args.verifier.consistency
    if config is None:
        return verifier
    if config.engine is None and rollout_model is None and isinstance(args.engine, VllmEngine):
        raise ConfigError("verifier.consistency needs an engine of its own beside vllm")
    if config.engine is None:
        second = rollout_model or make_model(args)
    else:
        second = make_model(args, config.engine, args.deployments.verifier, OF_CONSISTENCY)
    return ConsistencyVerifier(verifier, ConsistencyAgent(second, world, config), config)


def verifier_name(args: AppArgs) -> str:
    """For provenance: `consensus`, or the mode and the engine of the model."""
    config = args.verifier
    if config.kind != "model":
        return config.kind
    return f"{config.mode} by {(config.engine or args.engine).name}"


def remote_engines(args: AppArgs) -> tuple[str, ...]:
    """Hosts of the engines that are sent photos: of rollouts, of their observer, and of the verifier model."""
    verifier = args.verifier.engine if args.verifier.kind == "model" and args.verifier.show_photo else None
    engines = (*args.rollout_engines, args.observer, verifier)
    addresses = [url for engine in engines if isinstance(engine, OpenAIEngine) for url in engine.addresses]
    hosts = [urlsplit(url).hostname for url in addresses]
    return tuple(dict.fromkeys(host for host in hosts if host))


def _first_endpoint(args: AppArgs) -> str:
    """The address that every rollout asks first."""
    engines = (args.observer, args.engine)
    return next((bare_url(engine.base_url) for engine in engines if isinstance(engine, OpenAIEngine)), "")


def _model_name(engine: Engine) -> str:
    """The model that an engine is configured to use; the engine if it has none, or takes the first it finds."""
    named = engine.model if isinstance(engine, OpenAIEngine | VllmEngine) else ""
    return named or engine.name


def make_identity(args: AppArgs) -> Identity:
    """What this installation says about itself, with the versions of the data that are in the folder."""
    dialect = make_dialect(args.dialect, args)
    return Identity(
        version=importlib.metadata.version("geotts"),
        engine=" + ".join(dict.fromkeys(engine.name for engine in args.rollout_engines)),
        model=" + ".join(_model_name(engine) for engine in args.rollout_engines),
        dialect=dialect.name,
        verifier=verifier_name(args),
        prompt_sha256_of=lru_cache(lambda name: prompt_hash(make_dialect(name, args))),
        providers=args.tools.providers,
        remote_engines=remote_engines(args),
        notes=(*tools_note(args, dialect), *draws_note(args)),
        endpoint=_first_endpoint(args),
        abilities=args.abilities,
        data_versions={
            f"{status.name}.{name}": version
            for status in DataStore(args.data_dir).status(deep=False)
            for name, version in status.versions.items()
        },
    )
