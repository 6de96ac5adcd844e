"""`geotts bundle`: fetch the evidence of an answer, sign it, and check it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import click
import httpx

from deployments.cli import shared_options
from deployments.cli.built_data import ensure_data
from deployments.cli.console import EXIT_FAULTS, config_option
from deployments.config import AppArgs
from deployments.wiring.bundle_replay import replay_bundle
from tts.api.client import refusal
from tts.bundle.bundle_files import root_hash
from tts.bundle.check_bundle import checked_entries
from tts.bundle.signature import public_key, sign_files, signer_of
from tts.bundle.zip_archive import pack
from tts.domain.request import REQUEST_ID
from tts.errors import DataError, ServerUnreachable

_PATIENCE_S = 60.0
_REQUEST_ID = re.compile(REQUEST_ID)
_ROOT_HASH = re.compile(r"[0-9a-f]{64}")


class _Bundle(click.Group):
    """`geotts bundle ID` is `geotts bundle fetch ID`."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            if not _REQUEST_ID.fullmatch(args[0]):
                ctx.fail(f"{args[0][:80]!r} is not the id of a request, which is loc_ and 20 hexadecimal digits")
            args = ["fetch", *args]
        return super().resolve_command(ctx, args)


@click.group(cls=_Bundle)
def command() -> None:
    """Fetch the evidence of an answer as one file, or check such a file.

    \b
    geotts bundle loc_… -o case.zip
    geotts bundle verify case.zip
    """


@command.command()
@click.argument("request_id")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The file to write."
)
@click.option("--sign-with", type=shared_options.EXISTING_FILE, help="An ed25519 private key in PEM.")
@click.option(
    "--url", envvar="GEOTTS_URL", default="http://127.0.0.1:8000", show_default=True, help="Address of the service."
)
@shared_options.api_key
def fetch(request_id: str, output: Path, sign_with: Path | None, url: str, api_key: str | None) -> None:
    """Fetch the bundle of REQUEST_ID from a service, check it, and write it to a file. With --sign-with, sign it."""
    data = _fetch_bundle(request_id, url, api_key)
    entries = checked_entries(data)
    if sign_with is not None:
        data = pack(sign_files(entries, sign_with.read_bytes()))
    output.write_bytes(data)
    click.echo(f"{output}: root hash {root_hash(entries)}")


def _fetch_bundle(request_id: str, url: str, api_key: str | None) -> bytes:
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    address = f"{url.rstrip('/')}/locate/{request_id}/bundle"
    try:
        reply = httpx.get(address, headers=headers, timeout=_PATIENCE_S, trust_env=False)
    except httpx.HTTPError as error:
        why = str(error) or type(error).__name__
        raise ServerUnreachable(f"{url} did not answer: {why}; --url names another service") from error
    if reply.is_error:
        raise refusal(reply.status_code, reply.content, reply.headers)
    return reply.content


@command.command()
@click.argument("file", type=shared_options.EXISTING_FILE)
@click.option("--root", help="The root hash that the bundle had when it was made.")
@click.option("--signer", help="The public key of the signature: 64 hexadecimal digits, or a PEM file.")
@click.option("--no-replay", is_flag=True, help="Check hashes and signature only; do not compute the answer again.")
@config_option
def verify(file: Path, root: str | None, signer: str | None, no_replay: bool, args: AppArgs) -> int:
    """Check every hash of FILE, build it again and compare, then compute the answer again without network.

    The exit code is 3 if the bundle was changed, or if the answer that is computed again differs.
    """
    if root is not None and not _ROOT_HASH.fullmatch(root.strip().lower()):
        raise click.BadParameter("a root hash has 64 hexadecimal digits", param_hint="--root")
    signer = None if signer is None else public_key(signer)
    try:
        entries = checked_entries(file.read_bytes())
        _check_identity(entries, root, signer)
    except DataError as error:
        click.echo(f"NOT VALID: {error.detail}")
        return EXIT_FAULTS
    if no_replay:
        return 0
    ensure_data(args)
    found = asyncio.run(replay_bundle(entries, args))
    for line in found.differing:
        click.echo(f"version differs: {line}")
    if found.answer is None:
        click.echo("not replayed: a model decided the answer or tested a claim, which cannot be computed again")
        return 0
    click.echo("replayed: the same answer, byte for byte" if found.is_equal else "REPLAYED: the answer differs")
    return 0 if found.is_equal else EXIT_FAULTS


def _check_identity(entries: dict[str, bytes], root: str | None, signer: str | None) -> None:
    click.echo(f"complete: {len(entries)} files, root hash {root_hash(entries)}")
    if root is not None and root_hash(entries) != root.strip().lower():
        raise DataError("its root hash differs from --root: this is another bundle, or the bundle was made again")
    key = signer_of(entries)
    if signer is not None and key != signer:
        raise DataError("it was signed with another key" if key else "it is not signed")
    click.echo(
        f"signed by {key}"
        if key
        else "not signed: only a root hash that you know can show that the bundle was not made again"
    )
