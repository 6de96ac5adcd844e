"""Explains a profile: what the model is, how it is spoken to, which of its tools are there, how to serve it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

import httpx

from deployments.findings import Finding
from deployments.local import local_tools
from deployments.parts import make_dialect
from tts.config import AppArgs, OpenAIEngine, VllmEngine
from tts.dialects.base import Dialect
from tts.dialects.spoken import SpokenDialect
from tts.errors import ConfigError, DataError
from tts.profiles import Profile

_PATIENCE_S = 3.0


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
        yield Finding("dialect", "problem", error.detail, "the service does not start", "mend dialect_settings")
        return
    yield Finding("dialect", "ok", _speaking(dialect))
    yield Finding("limits", "ok", _limits(args, dialect))
    yield from _sampling(dialect)
    yield from _tools(dialect, args)
    template = profile.chat_template
    if template != "engine" and not os.path.isfile(template):
        yield Finding(
            "chat template", "problem", f"{template} is not there", "prompts are not as trained", "mend its path"
        )
    else:
        yield Finding("chat template", "ok", "the checkpoint's own" if template == "engine" else template)
    model = args.engine.model if isinstance(args.engine, OpenAIEngine | VllmEngine) else ""
    yield Finding("an endpoint of your own", "off", "", "", profile.serve_command(model))


def endpoint_finding(engine: OpenAIEngine) -> Finding:
    """Whether the endpoint answers and has the model."""
    key = os.environ.get(engine.api_key_env, "")
    url = f"{engine.base_url.rstrip('/')}/models"
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    cost, mend = "every rollout fails", "start it, or name another with --endpoint"
    try:
        response = httpx.get(url, headers=headers, timeout=_PATIENCE_S, trust_env=False)
        listed = [str(item["id"]) for item in response.raise_for_status().json()["data"]]
    except httpx.HTTPStatusError as error:
        said = f"{engine.base_url} answered {error.response.status_code}"
        return Finding("endpoint", "problem", said, cost, f"check the key in ${engine.api_key_env}")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Finding("endpoint", "problem", f"{engine.base_url}: {type(error).__name__}", cost, mend)
    except (ValueError, KeyError, TypeError):
        return Finding("endpoint", "problem", f"{engine.base_url} lists no models", cost, mend)
    if engine.model and engine.model not in listed:
        there = f"it has {', '.join(listed[:5]) or 'none'}"
        return Finding("endpoint", "problem", f"{engine.model} is not there; {there}", cost, "name one with --model")
    if not listed:
        return Finding("endpoint", "problem", f"{engine.base_url} lists no models", cost, mend)
    others = f", the first of {len(listed)}: name another with --model" if not engine.model and listed[1:] else ""
    return Finding("endpoint", "ok", f"{engine.base_url} serves {engine.model or listed[0]}{others}")


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
            "engine", "problem", f"vllm: there is no folder {engine.model}", cost, f"mend it, or {elsewhere}"
        )
    return Finding("engine", "ok", f"vllm: {engine.model_dump_json(exclude_defaults=True)}")


def _speaking(dialect: Dialect) -> str:
    if not isinstance(dialect, SpokenDialect):
        return dialect.name
    settings = dialect.settings
    coords = settings.coords or dialect.own_coords
    boxes = {"thousand": "0 to 1000", "pixels": "pixels of the sent picture", "fraction": "fractions"}[coords]
    told = "the system text" if dialect.tools_in == "system_text" else "the chat template"
    words = "its own texts" if settings.prompt_file is None else f"texts of {settings.prompt_file}"
    return f"{dialect.name}: {words}, tools in {told}, boxes as {boxes}, points in {dialect.datum}"


def _limits(args: AppArgs, dialect: Dialect) -> str:
    limits = args.limits.tighten(dialect.limits)
    per_tool = ", ".join(f"{tool} {n}" for tool, n in dialect.calls_per_tool.items())
    covers = "tool results included" if dialect.counts_observations else "what it writes"
    text = f"{limits.max_turns} turns, {limits.max_tool_calls} tool calls, {limits.max_tokens} tokens ({covers})"
    return f"{text}; {per_tool}" if per_tool else text


def _sampling(dialect: Dialect) -> Iterator[Finding]:
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


def _tools(dialect: Dialect, args: AppArgs) -> Iterator[Finding]:
    """Which of the tools the model was trained with some configured provider serves."""
    trained = {tool.name for tool in dialect.served} if isinstance(dialect, SpokenDialect) else set()
    try:
        offered = {schema.name for schema in dialect.schemas(local_tools(args).toolbox.schemas())}
    except DataError as error:
        yield Finding("tools", "problem", error.detail, "nothing can be looked up", "run `geotts data build`")
        return
    missing = sorted(trained - offered)
    there = ", ".join(sorted(offered)) or "none"
    if missing:
        cost = f"the model was trained with {', '.join(missing)} and has to do without"
        yield Finding("tools", "missing", there, cost, "configure a provider that has them (tools.providers)")
    else:
        yield Finding("tools", "ok", there)
