"""The dialect and the tools that serve a row of GeoVista, with the corpus' texts as the user's imported ones."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from geotts_benchmarks.released_rows.corpus import Corpus
from tts.dialects import DIALECTS
from tts.dialects.base import Dialect
from tts.dialects.released.imported_texts import ImportedTexts
from tts.dialects.settings import DialectSettings
from tts.domain.messages import ImagePart, Message

SYSTEM: Final = "geovista"
_TEXTS: Final = ("answer_demand", "search_hint")
_PAGE_KEYS: Final = {"title", "href", "body"}


def dialect_for(corpus: Corpus) -> Dialect:
    """The dialect as released; with the project's own texts where the corpus has none."""
    settings = {"behaviour": "released"} | _write_texts(corpus.folder)
    return DIALECTS[SYSTEM].with_settings(DialectSettings.model_validate(settings))


def as_tavily(provider: Mapping[str, Any]) -> dict[str, Any]:
    """The worker's pages as the service behind the worker writes them."""
    reply = provider.get("reply")
    if not isinstance(reply, list):
        return dict(provider)
    results = [{"title": hit["title"], "url": hit["href"], "content": hit["body"]} for hit in reply]
    return {**provider, "reply": {"results": results}}


def is_beyond_the_service(provider: Mapping[str, Any] | None) -> bool:
    """Whether the worker fails in words of its own, or gives anything but pages with title, href and body."""
    if provider is None:
        return False
    reply = provider.get("reply")
    if "fails" in provider or not isinstance(reply, list):
        return True
    return any(not isinstance(hit, Mapping) or set(hit) != _PAGE_KEYS for hit in reply)


def row_of_message(message: Message) -> dict[str, Any]:
    """A message as the rows write it: pictures by their size."""
    if message.role != "user":
        return {"role": message.role, "content": message.text}
    content = [
        {"type": "image", "image": f"<jpeg {part.image.width}x{part.image.height}>"}
        if isinstance(part, ImagePart)
        else {"type": "text", "text": part.text}
        for part in message.parts
    ]
    return {"role": "user", "content": content}


@lru_cache(maxsize=2)
def _write_texts(folder: Path) -> dict[str, str]:
    texts = Corpus(folder).texts(SYSTEM)
    if not texts:
        return {}
    texts_by_name = {name: item["text"] for name, item in zip(_TEXTS, texts["forced"], strict=True)}
    imported = ImportedTexts(system=texts["system"]["text"], task=texts["user"]["text"], texts=texts_by_name)
    return imported.write(Path(_texts_folder().name))


@lru_cache(maxsize=1)
def _texts_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="geotts-conformance-")
