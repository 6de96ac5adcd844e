"""The plan of `geotts serve --plan` as lines of text, and the configuration for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deployments.config import AppArgs, replace_nodes
from deployments.endpoints.key_and_price import money_line
from deployments.sizing.find_shape import shape_of
from deployments.sizing.gpu_plan import GpuPlan, Gpus, plan_gpus
from deployments.wiring.parts import make_dialect, verifier_name
from tts.config import VllmEngine
from tts.errors import ConfigError
from tts.profiles import Profile

_USUAL_CONTEXT = 32768
_FOLLOWED_CHUNKS_PER_S = (
    8500  # of a gateway core until events are 50 ms late: `geotts bench tokens`, docs/measurements.md
)
_MIN_CHUNK_PERIOD_S = 0.005  # without coalescing, an engine sends a piece for every token


def reserves_nothing(args: AppArgs) -> bool:
    """Whether a model shall run in this process and nobody has said on which GPUs, none included."""
    rollout = args.deployments.rollout
    claims_gpus = "num_gpus" in rollout.model_fields_set or bool(rollout.bundles)
    return isinstance(args.engine, VllmEngine) and not claims_gpus


def with_gpus(
    args: AppArgs, gpus: Gpus, *, profile: Profile | None = None, fp8: bool = False
) -> tuple[AppArgs, GpuPlan]:
    """The configuration that serves its vLLM engine on these GPUs, and the plan behind it.

    Args:
        args: its engine must be vLLM in this process.
        gpus: those of one machine.
        profile: the one in use, which tells the size of its own model.
        fp8: whether weights are quantised when they are loaded.

    Raises:
        ConfigError: another engine, a model of unknown size, or one that does not fit.
    """
    engine = args.engine
    if not isinstance(engine, VllmEngine):
        raise ConfigError("--gpus is for a model in this process: leave out --endpoint, or --gpus")
    plan = plan_gpus(
        shape_of(engine.model, profile),
        gpus,
        context_tokens=engine.max_model_len or _USUAL_CONTEXT,
        n_parallel=args.request_defaults.n_parallel or 4,
        fp8=fp8,
    )
    quantised: dict[str, Any] = {"extra": {**engine.extra, "quantization": "fp8"}} if fp8 else {}
    changed = engine.model_copy(
        update={
            "tensor_parallel": plan.tensor_parallel,
            "max_model_len": plan.context_tokens,
            "max_running": plan.max_running,
            **quantised,
        }
    )
    rollout = args.deployments.rollout.model_copy(
        update={
            "replicas": plan.replicas,
            "num_gpus": float(plan.tensor_parallel),
            "max_ongoing": plan.max_running,
            "autoscale": None,
        }
    )
    deployments = args.deployments.model_copy(update={"rollout": rollout})
    return replace_nodes(args, {"engine": changed.model_dump(), "deployments": deployments.model_dump()}), plan


def plan_lines(args: AppArgs, plan: GpuPlan | None) -> Iterator[str]:
    """What is served: model, GPUs, dialect, verifier, tools."""
    engine = args.engine
    yield f"model: {getattr(engine, 'model', '') or engine.name}"
    if plan is not None:
        for line in plan.lines():
            yield f"GPUs: {line}"
    dialect = make_dialect(args.dialect, args)
    limits = args.limits.tighten(dialect.limits)
    yield f"dialect: {dialect.name}, {limits.max_turns} turns, {limits.max_tool_calls} tool calls a rollout"
    yield f"verifier: {verifier_name(args)}"
    yield f"tools: {', '.join(args.tools.providers)}"
    yield f"gateways: {_gateway_line(args, plan)}"
    if line := money_line(args):
        yield f"money: {line}"


def _gateway_line(args: AppArgs, plan: GpuPlan | None) -> str:
    """How many rollouts the gateways can pass on, text as it comes, beside how many the engine can run."""
    gateways = args.deployments.gateway.most_replicas
    each = int(_FOLLOWED_CHUNKS_PER_S * max(args.coalesce_s, _MIN_CHUNK_PERIOD_S))
    line = f"{gateways}, for some {gateways * each} rollouts at once whose text is followed"
    running = plan.replicas * plan.max_running if plan is not None else 0
    if running > gateways * each:
        line += f"; the engine runs {running}: {-(-running // each)} gateways and Redis would pass on all of them"
    return line
