"""Explains a profile: its model, its dialect, which of its tools are configured, and how to serve it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from urllib.parse import urlsplit

import httpx

from deployments.config import AppArgs
from deployments.config.loopback import is_loopback
from deployments.doctor_finding import BUILD, Finding
from deployments.endpoints.listed_models import listed_models
from deployments.endpoints.roles import Endpoint
from deployments.wiring.local import local_tools
from deployments.wiring.parts import make_dialect
from tts.config import OpenAIEngine, VllmEngine
from tts.dialects.base import Dialect
from tts.dialects.text_dialect import TextDialect
from tts.errors import ConfigError, DataError
from tts.profiles import Profile


def explain(name: str, profile: Profile, args: AppArgs) -> Iterator[Finding]:
    """Findings about one profile under the configuration it gave. Asks the endpoint for its models, nothing else."""
    published = profile.model or "no published name: say --model"
    yield Finding(
        f"profile {name}", "ok", f"{profile.summary} ({published}; trained from {profile.base or 'anything'})"
    )
    note = profile.licence_note
    yield Finding("licence of the weights", "off" if note else "ok", profile.licence, note)
    try:
        dialect = make_dialect(args.dialect, args)
    except ConfigError as error:
        yield Finding("dialect", "problem", error.detail, "the service does not start", "correct dialect_settings")
        return
    yield Finding("dialect", "ok", _dialect_text(dialect))
    yield Finding("limits", "ok", _limits_text(args, dialect))
    yield from _sampling_findings(dialect)
    yield from _tool_findings(dialect, args)
    template = profile.chat_template
    if template != "engine" and not os.path.isfile(template):
        yield Finding(
            "chat template", "problem", f"{template} is not there", "prompts are not as trained", "correct its path"
        )
    else:
        yield Finding("chat template", "ok", "the checkpoint's own" if template == "engine" else template)
    if profile.needs_endpoint:
        return  # whoever serves the model knows how
    model = args.engine.model if isinstance(args.engine, OpenAIEngine | VllmEngine) else ""
    yield Finding("an endpoint of your own", "off", "", "", profile.serve_command(model))


def endpoint_finding(endpoint: Endpoint) -> Finding:
    """Whether the endpoint answers and has the model."""
    engine, use = endpoint.engine, endpoint.use
    what = "endpoint" if endpoint.role == "engine" else f"endpoint of {endpoint.role}"
    key = os.environ.get(engine.api_key_env, "")
    cost, mend = endpoint.cost, f"start it, or name another with {use.address}"
    if not _is_on_this_machine(engine.base_url):
        mend = f"check its address, up to and including /v1, and your connection, or name another with {use.address}"
    try:
        listed = listed_models(engine)
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        key_is_wrong = status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
        elsewhere = "check its address, up to and including /v1, and its log"
        about_key = f"check the key in ${engine.api_key_env}" if key else f"set its key in ${engine.api_key_env}"
        mend = about_key if key_is_wrong else elsewhere
        return Finding(what, "problem", f"{engine.base_url} answered {status}", cost, mend)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Finding(what, "problem", f"{engine.base_url}: {type(error).__name__}", cost, mend)
    except (ValueError, KeyError, TypeError):
        return Finding(what, "problem", f"{engine.base_url} lists no models", cost, mend)
    if engine.model and engine.model not in listed:
        there = f"it has {', '.join(listed[:5]) or 'none'}"
        return Finding(what, "problem", f"{engine.model} is not there; {there}", cost, f"name one with {use.model}")
    if not listed:
        return Finding(what, "problem", f"{engine.base_url} lists no models", cost, mend)
    others = f", the first of {len(listed)}: name another with {use.model}" if not engine.model and listed[1:] else ""
    return Finding(what, "ok", f"{engine.base_url} serves {engine.model or listed[0]}{others}")


def _is_on_this_machine(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")


def no_endpoint_finding(name: str) -> Finding:
    """The finding for a profile whose model runs on an endpoint, if no endpoint is named."""
    detail = f"none is named, and the profile {name} needs one"
    return Finding("endpoint", "problem", detail, "the service does not start", "say --endpoint URL")


def vllm_finding(engine: VllmEngine) -> Finding:
    """Whether a model can run in this process: vLLM is there, and the folder, where it is one."""
    cost, elsewhere = "the service does not start", "serve the model elsewhere and name it with --endpoint URL"
    if not engine.model:
        mend = "say --model PATH_OR_NAME, or --endpoint URL"
        return Finding("engine", "problem", "vllm: no model is named, the profile has no published one", cost, mend)
    if find_spec("vllm") is None:
        mend = f"pip install 'geotts[vllm]', or {elsewhere}"
        return Finding("engine", "problem", "vllm: vLLM is not installed", cost, mend)
    if engine.model.startswith(("/", "./", "../", "~")) and not os.path.isdir(os.path.expanduser(engine.model)):
        return Finding(
            "engine", "problem", f"vllm: there is no folder {engine.model}", cost, f"correct it, or {elsewhere}"
        )
    return Finding("engine", "ok", f"vllm: {engine.model_dump_json(exclude_defaults=True)}")


def _dialect_text(dialect: Dialect) -> str:
    if not isinstance(dialect, TextDialect):
        return dialect.name
    settings = dialect.settings
    coords = settings.coords or dialect.own_coords
    boxes = {"thousand": "0 to 1000", "pixels": "pixels of the sent picture", "fraction": "fractions"}[coords]
    place = "the system text" if dialect.tools_in == "system_text" else "the chat template"
    words = "its own texts" if settings.prompt_file is None else f"texts of {settings.prompt_file}"
    how = "as released, " if dialect.released else ""
    return f"{dialect.name}: {how}{words}, tools in {place}, boxes as {boxes}, points in {dialect.datum}"


def _limits_text(args: AppArgs, dialect: Dialect) -> str:
    limits = args.limits.tighten(dialect.limits)
    per_tool = ", ".join(f"{tool} {n}" for tool, n in dialect.calls_per_tool.items())
    covers = "tool results included" if dialect.counts_observations else "what it writes"
    text = f"{limits.max_turns} turns, {limits.max_tool_calls} tool calls, {limits.max_tokens} tokens ({covers})"
    return f"{text}; {per_tool}" if per_tool else text


def _sampling_findings(dialect: Dialect) -> Iterator[Finding]:
    for n, what in ((1, "sampling alone"), (4, "sampling in a fan-out")):
        drawn = dialect.sampling(rollout_id=n - 1, n=n, seed=0, turn=0, max_tokens=2**20)
        how = "greedy" if drawn.temperature == 0 else f"temperature {drawn.temperature:g}, top_p {drawn.top_p:g}"
        top_k = f", top_k {drawn.top_k}" if drawn.top_k > 0 else ""
        first = (
            "; rollout 0 stays greedy"
            if n > 1 and dialect.sampling(rollout_id=0, n=n, seed=0, turn=0, max_tokens=16).temperature == 0
            else ""
        )
        yield Finding(what, "ok", f"{how}{top_k}, at most {drawn.max_tokens} tokens a turn{first}")


def _tool_findings(dialect: Dialect, args: AppArgs) -> Iterator[Finding]:
    """Which of the tools the model was trained with some configured provider serves."""
    trained = {tool.name for tool in dialect.served} if isinstance(dialect, TextDialect) else set()
    try:
        offered = {schema.name for schema in dialect.schemas(local_tools(args).toolbox.schemas())}
    except DataError as error:
        yield Finding("tools", "missing", error.detail, "they are not known before the data is built", BUILD)
        return
    except ConfigError:  # of a provider, whose finding says it
        yield Finding("tools", "problem", "they do not start", "nothing can be looked up", "correct the providers")
        return
    missing = sorted(trained - offered)
    wanted = args.request_defaults.tools
    shown = offered if wanted is None else offered & set(wanted)
    there = ", ".join(sorted(shown)) or "none"
    if len(shown) < len(offered):
        there = f"{there} ({len(shown)} of {len(offered)}: request_defaults.tools)"
    if missing:
        cost = f"the model was trained with {', '.join(missing)}, which no provider here has"
        yield Finding("tools", "missing", there, cost, "configure a provider that has them (tools.providers)")
    else:
        yield Finding("tools", "ok", there)
