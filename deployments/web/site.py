"""The files of the page, read once, under a policy that lets them load nothing but themselves.

No inline script or style, no other origin, no form target, no frame around it; and Trusted Types: a string can never
become markup, so what a tool or a model says stays text even where the page had a mistake.
"""

from __future__ import annotations

import hashlib
import importlib.resources
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

PAGE: Final = "index.html"
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is served. `media_type` has its charset, `etag` its quotation marks."""

    data: bytes
    media_type: str
    etag: str

    @classmethod
    def of(cls, name: str, data: bytes) -> StaticFile:
        """Its type follows the suffix of `name`."""
        return cls(data, _TYPES[PurePosixPath(name).suffix], f'"{hashlib.sha256(data).hexdigest()[:32]}"')

    def headers(self) -> dict[str, str]:
        """Asked for again every time, sent again only when it changed."""
        return {
            "ETag": self.etag,
            "Cache-Control": "no-cache",
            "Content-Security-Policy": POLICY,
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
            "X-Frame-Options": "DENY",
        }


def static_files() -> dict[str, StaticFile]:
    """Name → file: all there is in `static`, and nothing outside it."""
    folder = importlib.resources.files("deployments.web").joinpath("static")
    return {item.name: StaticFile.of(item.name, item.read_bytes()) for item in folder.iterdir() if item.is_file()}
