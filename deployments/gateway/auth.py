"""Authentication of callers. A key is a long random token. Only its SHA-256 is stored, so a stolen key file is useless.

With access off, the service listens on loopback only. It still refuses requests of web pages in a browser on the same
machine: another site's `Origin`, and names that were made to resolve to loopback (DNS rebinding).
"""

from __future__ import annotations

import hashlib
import hmac
import math
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

from starlette.datastructures import Headers

from deployments.config import AccessConfig, GatewayConfig
from deployments.config.loopback import is_loopback
from tts.domain.value import Value
from tts.errors import ConfigError, Overloaded, RequestError

_KEYS_VARIABLE = "GEOTTS_API_KEYS"
_OPERATOR_WORD = "operator"
_DEFAULT_RATE_MARK = "-"  # in place of a rate, before a number of requests at once


class Unauthorized(RequestError):
    """The request has no API key, or one that is not known here."""

    code = "unauthorized"
    status = 401


class Forbidden(RequestError):
    """The key is no operator's, or the host name or origin of the request is not allowed here."""

    code = "forbidden"
    status = 403


class TooManyRequests(Overloaded):
    """The caller is above its rate, its requests at once or its money for the day."""

    code = "too-many-requests"
    status = 429


class Caller(Value):
    """Who asks, and how much they may. The empty name is everyone, while access is off. An `operator` may change what
    the service does.
    """

    name: str = ""
    requests_per_minute: float | None = None
    max_concurrent: int | None = None
    max_cost_usd: float | None = None
    max_cost_per_day_usd: float | None = None
    operator: bool = False

    @property
    def requests_per_day(self) -> int | None:
        """The number of requests that the daily money limit allows; None without such a limit."""
        if self.max_cost_per_day_usd is None or self.max_cost_usd is None:
            return None
        return int(self.max_cost_per_day_usd / self.max_cost_usd + 1e-9)


class Keyring:
    """The keys of an installation. They are read when the service starts, so an error in the file stops the start."""

    def __init__(self, config: GatewayConfig) -> None:
        self._config = config
        self._keys = _read_callers(config.access) if config.access.mode == "keys" else {}

    def caller(self, headers: Headers) -> Caller:
        """Raises Unauthorized without a known key, Forbidden for a browser that was sent here by another site."""
        self._check_origin(headers)
        if self._config.access.mode == "off":
            limits = self._config.access.model_dump(include=set(Caller.model_fields))
            return Caller(**limits, operator=True)
        key = _read_key(headers)
        if not key:
            raise Unauthorized("send an API key: Authorization: Bearer …")
        digest = fingerprint(key)
        found = [caller for known, caller in self._keys.items() if hmac.compare_digest(known, digest)]
        if not found:
            raise Unauthorized("this API key is unknown")
        return found[0]

    def operator(self, headers: Headers) -> Caller:
        """Raises Unauthorized and Forbidden as `caller` does, and Forbidden for a key of somebody who is none."""
        found = self.caller(headers)
        if not found.operator:
            raise Forbidden("this needs the key of an operator: `geotts keys new NAME --operator` makes one")
        return found

    def _check_origin(self, headers: Headers) -> None:
        config = self._config
        if config.access.mode == "keys":
            return
        host = headers.get("host", "")
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        if not _is_local(name) and name not in config.allowed_hosts:
            raise Forbidden(
                "this service answers requests to local host names only; add other names to gateway.allowed_hosts"
            )
        origin = headers.get("origin")
        if origin is None or origin in config.cors_origins or "*" in config.cors_origins:
            return
        if origin.partition("://")[2] != host:
            raise Forbidden(f"pages of {origin[:100]} may not call this service; add it to gateway.cors_origins")


def new_key() -> str:
    """A key with 256 bits of chance; shown once, never stored."""
    return "gt_" + secrets.token_urlsafe(32)


def fingerprint(key: str) -> str:
    """What is stored of a key. Plain SHA-256 suffices because keys are random, not chosen by people."""
    return hashlib.sha256(key.encode()).hexdigest()


def _is_local(name: str) -> bool:
    """Whether no other site can make this name its own: no dot in it, localhost, or a loopback address in digits."""
    if "." not in name or name.lower() == "localhost." or name.endswith(".localhost"):
        return True
    return is_loopback(name.removeprefix("[").removesuffix("]"))


def _read_key(headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "").strip()


def _read_callers(config: AccessConfig) -> dict[str, Caller]:
    lines: list[str] = []
    if config.keys_file is not None:
        try:
            lines += Path(config.keys_file).expanduser().read_text().splitlines()
        except OSError as error:
            raise ConfigError(f"gateway.access.keys_file cannot be read: {error.strerror}") from error
    lines += os.environ.get(_KEYS_VARIABLE, "").replace(";", "\n").splitlines()
    keys = dict(_parse_lines(lines, config))
    if not keys:
        raise ConfigError(
            f"access needs a key: make one with `geotts keys new NAME`, store its line in a file or {_KEYS_VARIABLE}"
        )
    if len({caller.name for caller in keys.values()}) < len(keys):
        raise ConfigError("two API keys have the same name")
    return keys


def _parse_lines(lines: Iterable[str], config: AccessConfig) -> Iterable[tuple[str, Caller]]:
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        name, digest, *rest = [*words, ""] if len(words) == 1 else words
        limits = [word for word in rest if "=" not in word and word != _OPERATOR_WORD]
        money = _parse_money_limits(number, [word for word in rest if "=" in word], config)
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef") or len(limits) > 2:
            raise ConfigError(
                f"key {number}: expected "
                "`name sha256 [operator] [cost=USD] [cost/day=USD] [requests/min|- [concurrent]]`"
            )
        if not name.isprintable():
            raise ConfigError(f"key {number}: its name has control characters")
        per_minute, concurrent = _parse_rate_limits(number, limits)
        yield (
            digest,
            Caller(
                name=name,
                requests_per_minute=config.requests_per_minute if per_minute is None else per_minute,
                max_concurrent=config.max_concurrent if concurrent is None else concurrent,
                max_cost_usd=money["cost"],
                max_cost_per_day_usd=money["cost/day"],
                operator=_OPERATOR_WORD in rest,
            ),
        )


def _parse_money_limits(number: int, words: Sequence[str], config: AccessConfig) -> dict[str, float | None]:
    """`cost` a request and `cost/day`, in US dollars. Raises ConfigError; a day has to pay for two requests."""
    money: dict[str, float | None] = {"cost": config.max_cost_usd, "cost/day": config.max_cost_per_day_usd}
    for word in words:
        name, _, amount = word.partition("=")
        try:
            usd = float(amount)
        except ValueError:
            usd = 0.0
        if name not in money or not (math.isfinite(usd) and usd > 0):
            raise ConfigError(f"key {number}: {word!r} is neither cost=USD nor cost/day=USD, an amount above 0")
        money[name] = usd
    check_money(money["cost"], money["cost/day"], f"key {number}")
    return money


def check_money(request_usd: float | None, day_usd: float | None, whose: str) -> None:
    """Raises ConfigError when a day's money cannot be shared out among requests."""
    if day_usd is not None and (request_usd is None or day_usd < 2 * request_usd):
        raise ConfigError(f"{whose}: a limit for a day needs a limit for each request, of at most half the amount")


def _parse_rate_limits(number: int, values: Sequence[str]) -> tuple[float | None, int | None]:
    """Requests a minute, and at once; None where the line says nothing. Raises ConfigError for limits that are none."""
    try:
        per_minute = float(values[0]) if values and values[0] != _DEFAULT_RATE_MARK else None
        concurrent = int(values[1]) if len(values) > 1 else None
    except ValueError:
        raise ConfigError(
            f"key {number}: its limits must be numbers: requests a minute (or -), and requests at the same time"
        ) from None
    if per_minute is not None and not (math.isfinite(per_minute) and per_minute > 0):
        raise ConfigError(f"key {number}: its requests a minute must be a finite number above 0")
    if concurrent is not None and concurrent < 1:
        raise ConfigError(f"key {number}: its requests at the same time must be at least 1")
    return per_minute, concurrent
