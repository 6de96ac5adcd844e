"""A photo for benchmarks that need one and do not care what it shows. Imports neither Ray nor the service."""

from __future__ import annotations

import io

from PIL import Image


def plain_photo(width: int = 640, height: int = 480) -> bytes:
    """A small picture without text, made here."""
    out = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(out, "JPEG", quality=80)
    return out.getvalue()
