"""The cache key of a call: two calls with the same meaning have the same key, on every machine."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Any

import orjson

from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import Arguments, Tool

_VERSION = "1"
_DECIMALS = 6  # a tenth of a metre


def call_key(tool: Tool, arguments: Arguments, context: ToolContext) -> str:
    """Hex digest over provider, tool, normalised arguments, the area asked for and, where it matters, the photos.

    Args:
        tool: only its specification is read.
        arguments: an instance of `tool.arguments`. What is None counts as not given; text is compared as in
            `normal_text`, except `exact` arguments; fractions are rounded to 6 decimals.
        context: the area of the request. Its photos count if the tool `depends_on_photo`; whether photo hosts are
            hidden counts if the tool `hides_hosts`.

    Returns:
        SHA-256 as 64 hexadecimal digits.
    """
    spec = tool.spec
    stated = {
        name: value if name in spec.exact else _normalise(value)
        for name, value in arguments.model_dump(mode="json", exclude_none=True).items()
    }
    area = context.options.within
    within = area.model_dump(mode="json") if area is not None else None
    photos = context.photo_hashes() if spec.depends_on_photo else ()
    hidden = spec.hides_hosts and context.options.hide_photo_hosts
    parts = [_VERSION, spec.provider, spec.name, stated, within, photos, hidden]
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _normalise(value: Any) -> Any:
    if isinstance(value, str):
        return normal_text(value)
    if isinstance(value, float):
        return round(value, _DECIMALS)
    if isinstance(value, list):
        return [_normalise(item) for item in value]
    return value


def normal_text(text: str) -> str:
    """Case, width and white space make no difference to a search.

    Args:
        text: in any script.

    Returns:
        The text in the form NFKC, case-folded, with one blank between words and none around them.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
