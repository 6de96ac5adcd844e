"""What to change about each fault, by the kind of engine. Every setting named here exists: a test looks each up."""

from __future__ import annotations

from tts.config import OpenAIEngine, PipelineConfig, VllmEngine
from tts.domain.value import Value
from tts.inference.openai.endpoint.advice import longer_context


class Remedy(Value):
    """`text` is one sentence for a person, `settings` the configuration keys in it."""

    text: str
    settings: tuple[str, ...] = ()


def parse_failures(args: PipelineConfig) -> Remedy:
    """For turns in which nothing usable was."""
    common = "serve the model as it was trained (--profile), draw less freely (dialect_settings.together.temperature)"
    drawn = "dialect_settings.together"
    if isinstance(args.engine, OpenAIEngine):
        return Remedy(
            text=f"{common}, check the chat template and the tool-call parser of the server (`geotts doctor`), or "
            "let calls come another way: engine.tools native, template or text",
            settings=(drawn, "engine.tools"),
        )
    if isinstance(args.engine, VllmEngine):
        return Remedy(
            text=f"{common}, give the checkpoint's own template (engine.chat_template), or let the engine write "
            "nothing else than calls and answers: engine.constrain turns",
            settings=(drawn, "engine.chat_template", "engine.constrain"),
        )
    return Remedy(text=common, settings=(drawn,))


def cut_turns(args: PipelineConfig) -> Remedy:
    """For turns that ended in the middle of a text."""
    text = "let a turn be longer: dialect_settings.turn_tokens, and limits.max_tokens for the whole rollout"
    settings: tuple[str, ...] = ("dialect_settings.turn_tokens", "limits.max_tokens")
    if isinstance(args.engine, OpenAIEngine):
        text += (
            "; where the context leaves no more room, serve a longer one (engine.context_tokens says how long it is)"
        )
        settings = (*settings, "engine.context_tokens")
    elif isinstance(args.engine, VllmEngine):
        text += "; where the context leaves no more room, engine.max_model_len"
        settings = (*settings, "engine.max_model_len")
    return Remedy(text=text, settings=settings)


def cut_contexts(args: PipelineConfig) -> Remedy:
    """For conversations that were longer than the context."""
    pictures = "; smaller pictures take less of it: dialect_settings.pictures"
    settings: tuple[str, ...] = ("limits.max_turns", "limits.max_tokens", "dialect_settings.pictures")
    if isinstance(args.engine, VllmEngine):
        text = "engine.max_model_len, or less: limits.max_turns, limits.max_tokens"
        return Remedy(text=text + pictures, settings=("engine.max_model_len", *settings))
    return Remedy(text=longer_context(_kind(args)) + pictures, settings=settings)


def broken_rollouts(args: PipelineConfig) -> Remedy:
    """For rollouts whose engine failed. The words of the failure stand beside this."""
    if isinstance(args.engine, OpenAIEngine):
        return Remedy(
            text="`geotts doctor` with the same options says whether the endpoint answers; one that is overrun wants a "
            "smaller engine.max_running, one that is slow a longer engine.first_token_s and engine.idle_s",
            settings=("engine.max_running", "engine.first_token_s", "engine.idle_s"),
        )
    return Remedy(text="`geotts doctor` with the same options looks at the engine")


def late_rollouts(args: PipelineConfig) -> Remedy:
    """For rollouts that the deadline ended."""
    text = "give a request more time (gateway.default_deadline_s), or think less: limits.max_turns, a smaller -n"
    settings: tuple[str, ...] = ("gateway.default_deadline_s", "limits.max_turns")
    if isinstance(args.engine, OpenAIEngine | VllmEngine):
        text += "; rollouts queue behind engine.max_running"
        settings = (*settings, "engine.max_running")
    return Remedy(text=text, settings=settings)


def no_calls(args: PipelineConfig) -> Remedy:
    """For a model that is offered tools and never calls one."""
    if isinstance(args.engine, OpenAIEngine):
        return Remedy(
            text="the server may not parse calls (vLLM: --enable-auto-tool-choice and --tool-call-parser); let them "
            "come as text (engine.tools template or text), or say that the model cannot (engine.calls_tools false)",
            settings=("engine.tools", "engine.calls_tools"),
        )
    if isinstance(args.engine, VllmEngine):
        return Remedy(
            text="its chat template may not list tools: engine.chat_template, or dialect_settings.tools_in system_text",
            settings=("engine.chat_template", "dialect_settings.tools_in"),
        )
    return Remedy(
        text="list the tools in the system text: dialect_settings.tools_in", settings=("dialect_settings.tools_in",)
    )


def invalid_calls(args: PipelineConfig) -> Remedy:
    """For calls of tools that are not there, or with arguments they do not take."""
    text = (
        "offer fewer tools (request_defaults.tools), under the names the model was trained with (--profile, "
        "dialect_settings.tool_schema_file)"
    )
    settings: tuple[str, ...] = ("request_defaults.tools", "dialect_settings.tool_schema_file")
    if args.dialect_settings.tool_set is not None:
        text += "; of a released dialect, hold one set of tools: dialect_settings.tool_set"
        settings = (*settings, "dialect_settings.tool_set")
    return Remedy(text=text, settings=settings)


def repeated_calls(args: PipelineConfig) -> Remedy:
    """For calls that were made before, word by word."""
    return Remedy(
        text="draw more freely (dialect_settings.together.temperature, dialect_settings.together.repetition_penalty), "
        "or allow fewer calls (limits.max_tool_calls); a context that is cut in silence makes a model forget, too",
        settings=("dialect_settings.together", "limits.max_tool_calls"),
    )


def failed_calls(args: PipelineConfig) -> Remedy:
    """For calls that the provider did not serve."""
    return Remedy(
        text="name a provider that answers (--providers, tools.providers); `geotts tools call` asks one by hand",
        settings=("tools.providers",),
    )


def nothing_cached(args: PipelineConfig) -> Remedy:
    """For an engine that says it found no prompt in its cache, though n rollouts begin alike."""
    if isinstance(args.engine, VllmEngine):
        return Remedy(
            text="prefix caching is on unless engine.extra turns it off (enable_prefix_caching)",
            settings=("engine.extra",),
        )
    return Remedy(
        text="a server of your own: serve with prefix caching (vLLM: --enable-prefix-caching; it only tells with "
        "--enable-prompt-tokens-details) and let one rollout go ahead: engine.prefix_cache true; a hosted model caches "
        "by itself or not at all: engine.prefix_cache false, so that no rollout waits for the first one",
        settings=("engine.prefix_cache",),
    )


def unseen_photos(args: PipelineConfig) -> Remedy:
    """For a model that answers as if it saw no photo: it does not know, or says the same of all of them."""
    if isinstance(args.engine, OpenAIEngine):
        return Remedy(
            text="check that the model is shown the photo (engine.sees_pictures, and the server's own picture support)",
            settings=("engine.sees_pictures",),
        )
    return Remedy(text="try another model or profile: --profile, --model")


def weak_verifier(args: PipelineConfig) -> Remedy:
    """For answers that are worse than those of a rollout drawn by chance."""
    other = "consensus" if args.verifier.kind == "model" else "model"
    return Remedy(text=f"try the other verifier: verifier.kind {other}", settings=("verifier.kind",))


def short_radii(args: PipelineConfig) -> Remedy:
    """For radii that hold the true place too seldom."""
    return Remedy(text="answers need a calibration of this engine: give labelled photos of your own (--photos)")


def _kind(args: PipelineConfig) -> str:
    """The kind of server, where the configuration names one."""
    return args.engine.server if isinstance(args.engine, OpenAIEngine) else ""
