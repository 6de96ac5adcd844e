"""A photo for tests that do not care what it shows."""

import io

from PIL import Image


def plain_photo(width: int, height: int) -> bytes:
    """A grey gradient as JPEG, without text."""
    out = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(out, "JPEG")
    return out.getvalue()
