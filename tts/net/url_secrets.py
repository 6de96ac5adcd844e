"""Secrets that people write into URLs: passwords, and keys as query parameters."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from tts.net.secret import STARS

_SECRET_NAMES = r"(?:[a-z_-]*key|[a-z_-]*token|password|passwd|pwd|secret|sig|signature|appid|app_id)"
_PASSWORD = re.compile(r"(?<=://)([^/?#@:\s]*:)([^/?#\s]*)(?=@)")
_PARAMETER = re.compile(rf"(?i)([?&;]{_SECRET_NAMES}=)([^&#\s]+)")
_SECRET_NAME = re.compile(rf"(?i){_SECRET_NAMES}")


def password_in(url: str) -> bool:
    """Whether the URL holds a password, before its host or as a parameter of that name."""
    found = _PASSWORD.search(url)
    return (found is not None and bool(found.group(2))) or re.search(r"(?i)[?&]password=[^&#]", url) is not None


def secrets_in(url: str) -> tuple[str, ...]:
    """Passwords and values of parameters whose names say that they are keys. None for what is no URL."""
    try:
        parts = urlsplit(url)
        password = parts.password
    except ValueError:
        return ()
    keys = [value for name, value in parse_qsl(parts.query) if _SECRET_NAME.fullmatch(name) and value]
    return tuple([unquote(password)] if password else []) + tuple(keys)


def bare_url(url: str) -> str:
    """The URL without what may be a secret: user, password, parameters and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def mask_secrets(text: str) -> str:
    """The text with stars for secrets in the URLs it holds."""
    return _PARAMETER.sub(rf"\1{STARS}", _PASSWORD.sub(rf"\1{STARS}", text))
