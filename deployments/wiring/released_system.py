"""Decides whether the configured model is served as released, and prepares its tools for that."""

from __future__ import annotations

from deployments.config import AppArgs
from tts.dialects.released.tool_name import released_system
from tts.dialects.settings import read_schemas
from tts.ports.toolbox import ToolSchema


def released_system_of(args: AppArgs) -> str:
    """The system whose tools are offered as released; empty when the dialect is served tolerantly."""
    settings = args.dialect_settings
    return released_system(args.dialect, settings.released_path) if settings.behaviour == "released" else ""


def released_texts(args: AppArgs) -> tuple[ToolSchema, ...]:
    """The schemas a released tool quotes when arguments do not fit. Raises ConfigError when their file is wrong."""
    file = args.dialect_settings.tool_schema_file
    return read_schemas(file) if file is not None and released_system_of(args) else ()
