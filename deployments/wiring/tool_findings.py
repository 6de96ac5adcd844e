"""Findings about tools: keys that no provider uses, and the gazetteer in place of live tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deployments.config import AppArgs
from deployments.doctor_finding import Finding
from tools.provider_assembly import missing_keys
from tools.provider_lookup import PROVIDERS, key_variable
from tts.config import ProviderName
from tts.config.provider_names import searches_pictures
from tts.dialects.base import Dialect

_EMBEDDED_PROVIDERS = frozenset({"offline"})
_NO_OPENCAGE = (
    "the answers of this model were looked up with OpenCage when it was trained; here another provider stands in: set "
    "OPENCAGE_API_KEY and add opencage to --providers"
)


def tools_note(args: AppArgs, dialect: Dialect) -> tuple[str, ...]:
    """What every answer has to say when a model that was trained with live maps and search has neither, or when its
    answers are looked up by another service than its authors'."""
    if args.tools.replays:
        return ()
    if dialect.name == "geoagent" and dialect.released and "opencage" not in args.tools.providers:
        return (_NO_OPENCAGE,)
    if not dialect.published or dialect.limits.max_tool_calls == 0:
        return ()
    if set(args.tools.providers) - _EMBEDDED_PROVIDERS:
        return ()
    return (
        "the model was trained with live maps and web search; its tools here are the embedded gazetteer and drawn "
        "maps: set keys and --providers, such as --providers google,amap",
    )


def unused_keys(args: AppArgs, environment: Mapping[str, str]) -> list[Finding]:
    """Keys in the environment for which no provider is configured. A key may serve several: the first is named."""
    used = {key_variable(name) for name in args.tools.providers}
    first: dict[str, ProviderName] = {}
    for name in PROVIDERS:
        variable = key_variable(name)
        if environment.get(variable, "").strip() and variable not in used:
            first.setdefault(variable, name)
    return [
        Finding(
            f"provider {name}",
            "off",
            f"${variable} is set, but nothing uses it",
            "its tools are not called",
            _providers_option(args, name),
        )
        for variable, name in first.items()
    ]


def providers_without_keys(args: AppArgs, environment: Mapping[str, str]) -> list[Finding]:
    """Every configured provider whose key is missing: the tools cannot start."""
    if args.tools.replays:
        return []
    return [
        Finding(
            f"provider {name}",
            "problem",
            f"${variable} is not set, and the provider {name} needs its key in it",
            "the tools do not start",
            f"set {variable}, or take {name} out of --providers",
        )
        for name, variable in missing_keys(args.tools, environment)
    ]


def _providers_option(args: AppArgs, name: ProviderName) -> str:
    named = ",".join([*(p for p in args.tools.providers if p not in _EMBEDDED_PROVIDERS), name])
    consent = " and tools.region_search.allowed: true" if searches_pictures(name) else ""
    return f"--providers {named}{consent}"


def region_search_findings(args: AppArgs) -> list[Finding]:
    """Of the providers that are sent parts of photos: whether they are, and how; or why they are not."""
    tools = args.tools
    named = [name for name in tools.providers if searches_pictures(name)]
    if not named or tools.replays:
        return []
    what, cost = f"region search {'+'.join(named)}", "image_search is not offered"
    if not tools.region_search.allowed:
        detail = f"{', '.join(named)}: named, but parts of photos may not leave this machine"
        return [Finding(what, "off", detail, cost, "set tools.region_search.allowed: true")]
    if "tape" in tools.providers:
        detail = f"{', '.join(named)}: not called, because the tape answers image_search"
        return [Finding(what, "off", detail, "only recorded regions are found", "take tape out of tools.providers")]
    blur = tools.region_search.blur
    if blur is not None and not Path(blur.model).expanduser().is_file():
        detail = f"there is no file {blur.model}, which has to find what is hidden in pictures"
        return [Finding(what, "problem", detail, "the tools do not start", "correct tools.region_search.blur.model")]
    where = f"fetched from {args.gateway.public_url}" if tools.serves_regions else "sent"
    hidden = "nothing is hidden in them" if blur is None else f"blurred by {blur.model}"
    return [Finding(what, "ok", f"parts of photos are {where} for requests that consent; {hidden}")]
