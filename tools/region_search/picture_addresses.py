"""The URLs in a store at which a picture is put, fetched and deleted, and their authorisation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, Protocol

from tools.region_search.presigned_urls import S3Keys, presign_url
from tts.config import S3Upload, StoreUpload
from tts.errors import ConfigError
from tts.net.secret import Credential, Secret

_KEY_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


@dataclass(frozen=True, slots=True)
class Target:
    """One request to the store.

    Attributes:
        url: the address of the picture in the store.
        headers: headers without secrets.
        credential: what authorises the request; None where the URL does.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    credential: Credential | None = None


class Places(Protocol):
    """A store as one kind of configuration has it. `secrets` must be removed from every text that is reported."""

    @property
    def address(self) -> str:
        """A URL of the store: its host may be private, as the operator named it."""
        ...

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Keys and tokens that authorise requests to the store."""
        ...

    def target(self, method: Literal["PUT", "DELETE"], name: str) -> Target:
        """Make the request that puts or deletes a picture; nothing is sent.

        Args:
            method: to put it or to delete it.
            name: the name of the file that nobody can guess.

        Returns:
            The URL, the headers and what authorises the request. It may be good for a few seconds only.
        """
        ...

    def public_url(self, name: str) -> str:
        """Make the URL from which services fetch a picture.

        Args:
            name: as in `target`.

        Returns:
            A URL that needs no key of its own. It may be good for a few seconds only.
        """
        ...


class HeaderPlaces:
    """PUT and DELETE of a URL with a header that authorises them (RFC 9110, 9.3.4 and 9.3.5).

    Args:
        config: the URLs, the headers, and the names of the secret's header and variable.
        environment: where the secret is read from.

    Raises:
        ConfigError: the secret is missing.
    """

    def __init__(self, config: StoreUpload, environment: Mapping[str, str]) -> None:
        secret = Secret(_required_variable(config.secret_env, environment))
        self._config = config
        self._credential = Credential("header", config.secret_header, secret)
        self.address = config.put_url
        self.secrets = (secret,)

    def target(self, method: Literal["PUT", "DELETE"], name: str) -> Target:
        """The put URL with the name filled in and the secret header; the configured headers for PUT only."""
        headers = self._config.headers if method == "PUT" else {}
        return Target(self._config.put_url.replace("{name}", name), headers, self._credential)

    def public_url(self, name: str) -> str:
        """The get URL with the name filled in; the put URL where no other is configured."""
        return (self._config.get_url or self._config.put_url).replace("{name}", name)


class S3Places:
    """An S3 bucket: every URL is signed for one method and a few seconds, so that the bucket stays private.

    Args:
        config: the bucket, its region and the seconds for which a URL is good.
        environment: where the keys are read from, under the usual names of AWS.
        now: the time in UTC.

    Raises:
        ConfigError: a key is missing.
    """

    def __init__(
        self,
        config: S3Upload,
        environment: Mapping[str, str],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        access, secret = (_required_variable(variable, environment) for variable in _KEY_VARIABLES[:2])
        session = environment.get(_KEY_VARIABLES[2], "").strip()
        self._keys = S3Keys(access, Secret(secret), Secret(session) if session else None)
        self._config = config
        self._now = now
        self.address = config.bucket_url
        self.secrets = tuple(key for key in (self._keys.secret, self._keys.session) if key is not None)

    def target(self, method: Literal["PUT", "DELETE"], name: str) -> Target:
        """A signed URL without further headers, good for the configured seconds."""
        return Target(self._signed_url(method, name))

    def public_url(self, name: str) -> str:
        """A signed URL for GET, good for the configured seconds."""
        return self._signed_url("GET", name)

    def _signed_url(self, method: Literal["GET", "PUT", "DELETE"], name: str) -> str:
        config = self._config
        url = f"{config.bucket_url.rstrip('/')}/{config.prefix}{name}"
        return presign_url(method, url, self._keys, region=config.region, expires_s=config.expires_s, at=self._now())


def _required_variable(variable: str, environment: Mapping[str, str]) -> str:
    value = environment.get(variable, "").strip()
    if not value:
        raise ConfigError(f"the upload of regions needs its secret in the environment variable {variable}")
    return value
