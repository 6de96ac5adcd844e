"""Checks whether an endpoint reads the whole first turn of a profile, by the server's report or by a canary."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from deployments.config import AppArgs
from deployments.doctor_finding import Finding
from deployments.wiring.local import local_tools
from deployments.wiring.parts import make_dialect
from tts.aio import Deadline
from tts.config import OpenAIEngine
from tts.dialects.base import Task
from tts.domain.photo_cleaning import load_photo
from tts.domain.request import RequestContext
from tts.domain.usage import Usage
from tts.errors import ConfigError, DataError, GeoTTSError
from tts.inference.openai.endpoint.advice import longer_context
from tts.inference.openai.endpoint.canary import CanaryOutcome
from tts.inference.openai.endpoint.traits import EndpointTraits
from tts.inference.openai.endpoint.truncation_check import needed_tokens
from tts.inference.openai.engine import OpenAIModel
from tts.package_files import SAMPLES
from tts.ports.model_client import ModelRequest
from tts.rollout.offered_tools import offered_tools

_PATIENCE_S = 180.0
_CUT_PROMPT_TEXT = "the model does not see the system text, the tools and the photo, but still answers"


def context_finding(engine: OpenAIEngine, args: AppArgs) -> Finding | None:
    """Asks the endpoint: one short answer where it may cut in silence. None where it cannot be asked."""
    try:
        needed = _first_turn_tokens(args)
        traits, outcome = asyncio.run(_check_context(engine, needed))
    except GeoTTSError:
        return None  # the finding about the endpoint says what is wrong with it
    found = _finding(needed, traits, outcome)
    return found if outcome is None else replace(found, detail=f"{found.detail}; {_cost_text(outcome.usage)}")


def _finding(needed: int, traits: EndpointTraits, outcome: CanaryOutcome | None) -> Finding:
    what = "context of the endpoint"
    holds = f"{traits.context_tokens} tokens" if traits.context_tokens else ""
    mend = longer_context(traits.kind)
    if traits.context_tokens is not None and traits.context_tokens < needed:
        cost = f"the first turn of this profile takes about {needed}"
        return Finding(what, "problem", f"{holds} ({traits.kind})", cost, mend)
    if outcome is None:
        return Finding(what, "ok", f"{holds or 'not stated'}; longer prompts are refused with an error ({traits.kind})")
    if outcome.state == "whole":
        tried = f"a prompt of {outcome.words} words was read from its first word"
        return Finding(what, "ok", f"{holds or 'not stated'}; {tried} ({traits.kind})")
    if outcome.state == "cut":
        read = f"{outcome.read} of at least {outcome.words} tokens" if outcome.read else "only the end of a prompt"
        return Finding(
            what, "problem", f"the first words were lost: it read {read} ({traits.kind})", _CUT_PROMPT_TEXT, mend
        )
    if outcome.state == "refused":
        return Finding(what, "problem", f"{outcome.words} tokens are refused: {outcome.message}", "rollouts fail", mend)
    unknown = f"not told, and a try proved nothing{': ' + outcome.message if outcome.message else ''} ({traits.kind})"
    return Finding(what, "missing", unknown, "the beginning of long conversations may be lost", mend)


def _cost_text(usage: Usage) -> str:
    """What the try cost, as far as the endpoint counts."""
    tokens = usage.prompt_tokens + usage.completion_tokens
    counted = f"{tokens} tokens" if tokens else "an unknown number of tokens"
    money = f", ${usage.cost_usd:.6f}".rstrip("0") if usage.cost_usd else ""
    return f"to find out took {counted}{money}"


async def _check_context(engine: OpenAIEngine, needed: int) -> tuple[EndpointTraits, CanaryOutcome | None]:
    model = OpenAIModel(engine)
    try:
        outcome = await model.check_context(needed, Deadline(_PATIENCE_S))
        return model.traits, outcome
    finally:
        await model.aclose()


def _first_turn_tokens(args: AppArgs) -> int:
    """About how many tokens the first turn takes: its texts, the tools sent with it, and a shipped sample photo."""
    dialect = make_dialect(args.dialect, args)
    try:
        schemas = local_tools(args).toolbox.schemas()
        tools = offered_tools(dialect, schemas, args.request_defaults.tools, region_search=False)
    except (DataError, ConfigError):  # data that is not built, keys that are missing: findings of their own
        tools = ()
    photo = load_photo((SAMPLES / "town-sign-latin.jpg").read_bytes())
    return needed_tokens(
        ModelRequest(
            context=RequestContext(id="doctor", remaining_s=_PATIENCE_S),
            session_id="doctor",
            messages=dialect.opening(Task(photos=(photo,), use_tools=bool(tools), tools=tools)),
            sampling=dialect.sampling(rollout_id=0, n=1, seed=0, turn=0, max_tokens=args.limits.max_tokens),
            photos=(photo,),
            tools=tools,
            pictures=dialect.pictures,
        )
    )
