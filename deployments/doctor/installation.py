"""Checks what is installed, what is missing, and what does not work without it. Nothing is changed, started or
downloaded."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import psutil

from deployments.config import AppArgs
from deployments.doctor.context_finding import context_finding
from deployments.doctor.profile import endpoint_finding, vllm_finding
from deployments.doctor.template_finding import template_finding
from deployments.doctor_finding import BUILD, Finding
from deployments.endpoints.key_and_price import terms_findings
from deployments.endpoints.roles import endpoints_of
from deployments.endpoints.watch import drained_findings
from deployments.seam.guard import WRITTEN_FOR, missing_attributes, missing_names, other_versions
from deployments.serve.ray_env import bind_problem
from deployments.sizing.local_gpus import found_gpus
from deployments.wiring.parts import make_dialect
from deployments.wiring.tool_findings import providers_without_keys, region_search_findings, tools_note, unused_keys
from tts.config import CluesEngine, Engine, OpenAIEngine, VllmEngine
from tts.geodata.store import DataStore
from tts.net.url_secrets import mask_secrets
from tts.perception.alphabets import lettering
from tts.perception.tesseract import installed_models

_PACKAGES = ("ray", "fastapi", "pydantic", "httpx", "orjson", "onnxruntime", "rapidocr", "pillow", "opentelemetry-sdk")
_MIN_FREE_GB = 2.0


def check_installation(args: AppArgs) -> list[Finding]:
    """All findings, in the order a person would ask."""
    checks: tuple[Callable[[AppArgs], Iterator[Finding]], ...] = (
        _python_findings, _package_findings, _seam_findings, _optional_findings, _tesseract_findings,
        _data_findings, _machine_findings, _port_findings, _engine_findings, _tool_findings,
    )  # fmt: skip
    return [replace(found, detail=mask_secrets(found.detail)) for check in checks for found in check(args)]


def _python_findings(args: AppArgs) -> Iterator[Finding]:
    fits = (3, 11) <= sys.version_info[:2] <= (3, 13)
    yield Finding(
        "Python",
        "ok" if fits else "problem",
        platform.python_version(),
        "untested",
        "use Python 3.11" if not fits else "",
    )


def _package_findings(args: AppArgs) -> Iterator[Finding]:
    found = {name: _installed_version(name) for name in _PACKAGES}
    missing = [name for name, version in found.items() if version is None]
    detail = ", ".join(f"{name} {version}" for name, version in found.items() if version)
    if missing:
        yield Finding("packages", "problem", ", ".join(missing), "the service does not start", "run `make setup`")
    else:
        yield Finding("packages", "ok", detail)


def _seam_findings(args: AppArgs) -> Iterator[Finding]:
    """Nothing where Ray and uvicorn are the versions whose internals are known."""
    for other in other_versions():
        gone = [*missing_names(), *missing_attributes()]
        yield Finding(
            "internals",
            "problem" if gone else "missing",
            f"{other}; without {', '.join(gone)}" if gone else other,
            "the service does not start" if gone else "untested",
            f"use {', '.join(f'{name} {wanted}' for name, wanted in WRITTEN_FOR.items())}",
        )


def _optional_findings(args: AppArgs) -> Iterator[Finding]:
    for module, what, cost, extra in (
        ("vllm", "vLLM", "no models in this process; an OpenAI-compatible endpoint still works", "vllm"),
        ("torch", "PyTorch", "no visual locatability score; cues are used", "segmentation"),
        ("pyarrow", "pyarrow", "no Parquet files", "parquet"),
        ("redis", "redis client", "one gateway and one node only", "redis"),
    ):
        if importlib.util.find_spec(module):
            yield Finding(what, "ok", _installed_version(module) or "")
        else:
            yield Finding(what, "off", "not installed", cost, f"pip install 'geotts[{extra}]'")


def _tesseract_findings(args: AppArgs) -> Iterator[Finding]:
    models = installed_models()
    if models.missing_languages:
        packages = " ".join(f"tesseract-ocr-{code}" for code in models.missing_languages)
        cost = "text in these scripts is not read, or is read badly"
        yield Finding(
            "Tesseract models", "missing", lettering(models.missing_languages), cost, f"apt-get install {packages}"
        )
    else:
        yield Finding("Tesseract models", "ok", f"{len(models.languages)} in {models.folder}")


def _data_findings(args: AppArgs) -> Iterator[Finding]:
    store = DataStore(args.data_dir)
    for status in store.status():
        if status.state == "ready":
            yield Finding(status.name, "ok", f"{status.size_bytes / 1e6:.0f} MB in {status.path}")
        else:
            yield Finding(status.name, "missing", status.state, "nothing can be looked up until it is built", BUILD)
    target = next(path for path in (store.root, *store.root.parents) if path.exists())
    free = shutil.disk_usage(target).free / 1e9
    if free < _MIN_FREE_GB:
        yield Finding(
            "disk", "problem", f"{free:.1f} GB free at {target}", "builds and logs may fail", "free some space"
        )


def _machine_findings(args: AppArgs) -> Iterator[Finding]:
    memory = psutil.virtual_memory().available / 2**30
    detail = f"{os.cpu_count()} cores, {memory:.1f} GiB of memory free"
    short = memory < 3
    yield Finding(
        "machine", "problem" if short else "ok", detail, "the service may be killed: it needs 2 GiB" if short else ""
    )
    if (gpus := found_gpus()) is not None:
        yield Finding("GPU", "ok", f"{gpus.count} x {gpus.memory_gb:g} GB")
    else:
        yield Finding(
            "GPU",
            "off",
            "none seen",
            "no model runs on this machine with vLLM; the embedded engine and remote endpoints need none",
        )


def _port_findings(args: AppArgs) -> Iterator[Finding]:
    what = f"port {args.gateway.port}"
    yield from drained_findings(f"http://{args.gateway.host}:{args.gateway.port}")
    if reason := bind_problem(args.gateway.host, args.gateway.port):
        yield Finding(
            what, "problem", reason, "the service cannot listen", "stop the program that uses it, or use --port"
        )
    else:
        yield Finding(what, "ok", "free, for the service")


def _engine_findings(args: AppArgs) -> Iterator[Finding]:
    for endpoint in endpoints_of(args):
        answers = endpoint_finding(endpoint)
        yield answers
        if answers.state == "ok" and (context := context_finding(endpoint.engine, args)) is not None:
            yield context
        if (lossy := template_finding(endpoint.engine)) is not None:
            yield lossy
    yield from terms_findings(args)
    if not args.engines:
        yield from _own_engine_findings("engine", args.engine)
        return
    total = sum(member.share for member in args.engines)
    shares = ", ".join(f"{member.name} {100 * member.share / total:.0f} %" for member in args.engines)
    yield Finding("shares of the engines", "ok", shares)
    for member in args.engines:
        yield from _own_engine_findings(f"engine {member.name}", member.engine)
    if args.verifier.sources is None:
        cost = "every source counts the same"
        yield Finding("reliability of sources", "off", "not known", cost, "set verifier.sources (geotts calibrate)")


def _own_engine_findings(what: str, engine: Engine) -> Iterator[Finding]:
    """An engine that is no endpoint."""
    if isinstance(engine, CluesEngine):
        yield Finding(what, "ok", "clues: embedded, needs no model")
    elif isinstance(engine, VllmEngine):
        yield vllm_finding(engine)
    elif not isinstance(engine, OpenAIEngine):
        yield Finding(what, "ok", f"{engine.name}: {engine.model_dump_json(exclude_defaults=True)}")


def _tool_findings(args: AppArgs) -> Iterator[Finding]:
    for note in tools_note(args, make_dialect(args.dialect, args)):
        yield Finding("tools", "missing", note, "the model looks things up in a gazetteer of towns", "set --providers")
    yield from providers_without_keys(args, os.environ)
    yield from unused_keys(args, os.environ)
    yield from region_search_findings(args)


def _installed_version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
