"""`geotts endpoints`."""

from __future__ import annotations

from typing import Any

import click
import httpx

from tts.errors import ConfigError, RequestError

_PATIENCE_S = 30.0
_SERVICE_OPTIONS = [
    click.option(
        "--url", envvar="GEOTTS_URL", default="http://127.0.0.1:8000", show_default=True,
        help="Address of the service. You can also set GEOTTS_URL.",
    ),
    click.option("--api-key", envvar="GEOTTS_API_KEY", help="Key of an operator. You can also set GEOTTS_API_KEY."),
]  # fmt: skip


def _add_service_options(command: Any) -> Any:
    for option in _SERVICE_OPTIONS:
        command = option(command)
    return command


@click.group()
def command() -> None:
    """List the model endpoints of a running service, take one out of use, or put it back into use."""


@command.command("list")
@_add_service_options
def show(url: str, api_key: str | None) -> None:
    """Show the role, the address and the state of each endpoint."""
    _print_states(_request_states("GET", url, api_key))


@command.command()
@click.argument("endpoint")
@_add_service_options
def drain(endpoint: str, url: str, api_key: str | None) -> None:
    """Send no new conversation to ENDPOINT (its address, up to and including /v1). Running conversations continue to
    their end."""
    _print_states(_request_states("POST", url, api_key, {"url": endpoint, "draining": True}))


@command.command()
@click.argument("endpoint")
@_add_service_options
def undrain(endpoint: str, url: str, api_key: str | None) -> None:
    """Send new conversations to ENDPOINT again."""
    _print_states(_request_states("POST", url, api_key, {"url": endpoint, "draining": False}))


def _request_states(method: str, url: str, key: str | None, body: dict[str, Any] | None = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        reply = httpx.request(
            method, f"{url.rstrip('/')}/endpoints", json=body, headers=headers, timeout=_PATIENCE_S, trust_env=False
        )
        states: dict[str, Any] = reply.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise ConfigError(
            f"no GeoTTS service answers at {url} ({type(error).__name__}): start one with `geotts serve`, or name "
            "another with --url"
        ) from error
    if reply.is_error:
        raise RequestError(str(states.get("detail") or f"{url} answered {reply.status_code}"))
    return states


def _print_states(states: dict[str, Any]) -> None:
    for one in states["endpoints"]:
        click.echo(f"{one['role']}  {one['url']}  {_state_text(one)}")
    drained = [one for one in states["endpoints"] if one["draining"]]
    if drained and len(drained) == len(states["endpoints"]):
        click.echo("all endpoints are drained, so the service uses all of them", err=True)
    if not states.get("heard", True):
        click.echo("some replicas did not answer; they get the change within seconds", err=True)


def _state_text(one: dict[str, str]) -> str:
    by = {"operator": "draining", "file": "draining, by the deployed file", "": ""}[one["draining"]]
    return ", ".join(part for part in (by, one["state"] if one["state"] != "ok" or not by else "") if part)
