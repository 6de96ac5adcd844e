"""Secrets: a wrapper that prints stars, the place of a key in a request, and a scrubber that removes keys from texts.

The plain value is in two places only: the environment it came from and the bytes on the wire. A service may echo
a key in a reply or an error, so whatever comes back is scrubbed of every secret the scrubber knows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, quote_plus

STARS = "***"
_MIN_SECRET_CHARS = 4  # shorter "keys" would blank out ordinary text


class Secret:
    """A value for the wire only."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The plain value; it must not come into texts, logs or errors."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({STARS})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> str | tuple[type[Secret], tuple[str]]:
        raise TypeError("a secret does not leave its process")


@dataclass(frozen=True, slots=True)
class Credential:
    """Where a key goes: a query parameter or a header, `prefix` before it (`Bearer `)."""

    where: Literal["query", "header"]
    name: str
    secret: Secret
    prefix: str = ""


class Scrubber(logging.Filter):
    """Replaces the secrets it was told about, plain or percent-encoded, in texts and in log records."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        super().__init__()
        self._secret_texts: list[str] = []
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: Secret) -> None:
        """Replace this secret from now on. One of fewer than four characters is passed over."""
        plain = secret.reveal()
        if len(plain) < _MIN_SECRET_CHARS:
            return
        for form in {plain, quote(plain, safe=""), quote_plus(plain)}:
            if form not in self._secret_texts:
                self._secret_texts.append(form)
        self._secret_texts.sort(key=len, reverse=True)

    @contextmanager
    def hide(self, secret: Secret) -> Iterator[None]:
        """Knows a secret of random letters for the time of the block, and forgets it."""
        needle = secret.reveal()
        self._secret_texts = [needle, *self._secret_texts]
        try:
            yield
        finally:
            self._secret_texts = [known for known in self._secret_texts if known != needle]

    def scrub(self, text: str) -> str:
        """The text with `***` in place of every known secret."""
        for needle in self._secret_texts:
            if needle in text:
                text = text.replace(needle, STARS)
        return text

    def scrub_bytes(self, data: bytes) -> bytes:
        """The bytes with `***` in place of every known secret, which is looked for in UTF-8."""
        for needle in self._secret_texts:
            if (raw := needle.encode()) in data:
                data = data.replace(raw, STARS.encode())
        return data

    def filter(self, record: logging.LogRecord) -> bool:
        """As a logging filter: the message is formed here, scrubbed, and stripped of its arguments."""
        message = record.getMessage()
        if (clean := self.scrub(message)) != message:
            record.msg = clean
            record.args = ()
        return True

    def guard(self, *loggers: str) -> None:
        """Scrub what these loggers write."""
        for name in loggers:
            logging.getLogger(name).addFilter(self)
