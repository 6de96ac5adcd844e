"""`geotts tools list | call`."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import click
import orjson

from deployments.cli.console import config_option
from deployments.cli.shared_options import EXISTING_FILE
from deployments.cli.text_console import TextConsole, styled_text
from deployments.config import AppArgs
from deployments.wiring.local import local_tools, without_gateway
from tts.domain.photo_cleaning import load_photo
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolContext, ToolOutcome


@click.group()
def command() -> None:
    """List the tools that models get, or call one yourself."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the schemas as JSON, as a model gets them.")
@config_option
def list_tools(args: AppArgs, as_json: bool) -> None:
    """List every tool with its arguments."""
    schemas = local_tools(without_gateway(args)).toolbox.schemas()
    if as_json:
        click.echo(orjson.dumps([schema.jsonable() for schema in schemas], option=orjson.OPT_INDENT_2))
        return
    console = TextConsole()
    for schema in schemas:
        properties: dict[str, Any] = schema.parameters.get("properties", {})  # type: ignore[assignment]
        required: Any = schema.parameters.get("required", [])
        shown = ", ".join(name if name in required else f"{name}?" for name in properties)
        console.print(styled_text((schema.name, "bold"), f"({shown})"), soft_wrap=True)
        console.print(f"  {schema.description}", markup=False, soft_wrap=True)


@command.command("call")
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="KEY=VALUE…")
@click.option("--photo", type=EXISTING_FILE, help="Photo, for a tool that needs one.")
@click.option("--allow-region-search", is_flag=True, help="Allow regions of the photo to be sent to web services.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON, with its facts.")
@click.option(
    "--save", type=click.Path(file_okay=False, path_type=Path), help="Folder for the pictures that the tool returns."
)
@config_option
def call_tool(
    args: AppArgs, name: str, arguments: tuple[str, ...], photo: Path | None, allow_region_search: bool,
    as_json: bool, save: Path | None,
) -> int:  # fmt: skip
    """Call a tool: `geotts tools call poi_keyword_search query=Coimbra`. A VALUE is JSON, or else text."""
    call = ToolCall(id="cli", name=name, arguments=dict(_parse_argument(text) for text in arguments))
    photos = (load_photo(photo.read_bytes()),) if photo else ()
    options = LocateOptions(allow_region_search=allow_region_search)
    context = ToolContext(RequestContext(id="cli", remaining_s=60.0), photos, options)
    outcome = asyncio.run(_call_tool(args, call, context))
    click.echo(orjson.dumps(outcome.result.jsonable(), option=orjson.OPT_INDENT_2) if as_json else outcome.result.text)
    for attachment in outcome.attachments if save else ():
        assert save is not None
        save.mkdir(parents=True, exist_ok=True)
        path = save / f"{attachment.sha256[:16]}.{attachment.media_type.partition('/')[2]}"
        path.write_bytes(attachment.data)
        click.echo(f"saved {path}", err=True)
    return 0 if outcome.result.ok else 1


async def _call_tool(args: AppArgs, call: ToolCall, context: ToolContext) -> ToolOutcome:
    async with aclosing(local_tools(without_gateway(args))) as tools:
        return await tools.toolbox.call(call, context)


def _parse_argument(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE")
    try:
        return name, orjson.loads(value)
    except orjson.JSONDecodeError:
        return name, value
