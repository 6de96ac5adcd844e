"""`geotts mcp`."""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from opentelemetry.sdk.trace.export import ConsoleSpanExporter

from deployments.cli.built_data import ensure_data
from deployments.cli.console import config_option, profile_options
from deployments.cli.silent_endpoints import warn_of_silent_endpoints
from deployments.config import AppArgs
from deployments.gateway.answer_pictures import AnswerPictures
from deployments.gateway.auth import Caller
from deployments.gateway.gateway import Gateway
from deployments.gateway.photos.fetcher import PhotoFetcher
from deployments.mcp.photo_arguments import AllowedRoots, LocalPhoto
from deployments.mcp.tool_execution import McpTools
from deployments.wiring.local import LocalTools, local_ports, local_tools, without_gateway
from tts.errors import ConfigError
from tts.perception.local_perception import LocalPerception
from tts.telemetry import configure_telemetry

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


@click.command()
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder whose photos tool calls may name by path. Default: the current folder. Repeatable.",
)
@config_option
@profile_options
def command(args: AppArgs, roots: tuple[Path, ...]) -> None:
    """Serve the Model Context Protocol on stdin and stdout, for the program that starts `geotts mcp`.

    A running service offers the same tools at POST /mcp.
    """
    ensure_data(args)
    # standard output is the protocol's
    on_stderr = ConsoleSpanExporter(out=sys.stderr) if args.telemetry.traces == "console" else None
    configure_telemetry(args.telemetry, "mcp", on_stderr)
    # beside the protocol: a silent endpoint delays neither an answer nor the end of this process
    threading.Thread(target=warn_of_silent_endpoints, args=(args,), name="ask endpoints", daemon=True).start()
    asyncio.run(_serve(args, roots or (Path(),)))


async def _serve(args: AppArgs, roots: tuple[Path, ...]) -> None:
    try:
        from mcp.server.stdio import stdio_server  # noqa: PLC0415  optional: the `mcp` extra
    except ModuleNotFoundError as error:
        raise ConfigError("serving MCP needs its SDK: pip install 'geotts[mcp]'") from error
    gateway, server, tools, fetcher = _build_server(without_gateway(args), roots)
    async with aclosing(tools), aclosing(fetcher), aclosing(gateway), stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _build_server(args: AppArgs, roots: tuple[Path, ...]) -> tuple[Gateway, Server[Any], LocalTools, PhotoFetcher]:
    """The whole system in this process, as `geotts locate` has it."""
    from deployments.mcp.server import mcp_server  # noqa: PLC0415  imports the SDK, which is optional

    perception = LocalPerception()
    tools = local_tools(args, perception)
    gateway = Gateway(args, local_ports(args, tools, perception), brokers=tools.brokers)
    fetcher = PhotoFetcher(args.gateway)
    mcp_tools = McpTools(
        gateway,
        AnswerPictures(args.data_dir),
        LocalPhoto,
        toolbox=tools.toolbox,
        fetch=fetcher.fetch if args.gateway.fetch_urls else None,
        read_path=AllowedRoots(roots, max_bytes=args.gateway.photo.max_bytes).read,
        photos_s=args.gateway.fetch_timeout_s,
    )

    async def caller_of(context: Any, costs: bool) -> Caller:
        return Caller()

    return gateway, mcp_server(mcp_tools, caller_of), tools, fetcher
