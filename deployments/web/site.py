"""Serves the files of the page, with a content security policy that allows no other origin.

No inline script or style, no other origin, no form target, no frame around it; and Trusted Types: a string can never
become markup, so what a tool or a model says stays text even where the page had a mistake.
"""

from __future__ import annotations

import hashlib
import importlib.resources
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Final

from tts.package_files import SAMPLES

PAGE: Final = "index.html"
SAMPLE: Final = "sample.jpg"
_LEAFLET_PACKAGE: Final = "xstatic.pkg.leaflet"
_LEAFLET_FILES: Final = ("leaflet.js", "leaflet.css")


def page_policy(image_origins: tuple[str, ...] = ()) -> str:
    """The policy of the page. `image_origins` are tile servers of the operator; nothing else comes from elsewhere.

    The one policy for Trusted Types (`trusted.js`) lets through what Leaflet writes about itself, and no other string.
    """
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            " ".join(("img-src 'self' blob:", *dict.fromkeys(image_origins))),
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types default",
        )
    )


POLICY: Final = page_policy()
_CONTENT_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is served. `media_type` has its charset, `etag` its quotation marks."""

    data: bytes
    media_type: str
    etag: str

    @classmethod
    def from_bytes(cls, name: str, data: bytes) -> StaticFile:
        """Its type follows the suffix of `name`."""
        return cls(data, _CONTENT_TYPES[PurePosixPath(name).suffix], f'"{hashlib.sha256(data).hexdigest()[:32]}"')

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


@cache
def package_file(name: str) -> StaticFile | None:
    """A file of Leaflet, or the photo for examples, read from its package when it is first asked for; None for any
    other name."""
    if name == SAMPLE:
        return StaticFile.from_bytes(name, (SAMPLES / "town-sign-latin.jpg").read_bytes())
    if name not in _LEAFLET_FILES:
        return None
    data = importlib.resources.files(_LEAFLET_PACKAGE).joinpath("data", name).read_bytes()
    return StaticFile.from_bytes(name, data)


def static_files() -> dict[str, StaticFile]:
    """Name → file: all there is in `static`, and nothing outside it."""
    folder = importlib.resources.files("deployments.web").joinpath("static")
    return {
        item.name: StaticFile.from_bytes(item.name, item.read_bytes()) for item in folder.iterdir() if item.is_file()
    }
