"""HTML that is safe by construction: text is escaped when it becomes a child, and only elements made here are not.

Whatever a photo, a tool or a model says goes through `el`; there is no way to put a string into the page unescaped.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from urllib.parse import urlsplit

_VOID_ELEMENTS = frozenset({"img", "meta", "br"})


class Html:
    """Finished markup. Made by `el` and `page` only."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


Child = Html | str | int | float | None | Iterable["Child"]


def el(name: str, /, *children: Child, **attributes: str | bool) -> Html:
    """An element. Trailing underscores of attribute names are dropped (`class_`), others become hyphens."""
    shown = "".join(_attribute(key, value) for key, value in attributes.items() if value is not False)
    if name in _VOID_ELEMENTS:
        return Html(f"<{name}{shown}>")
    return Html(f"<{name}{shown}>{_flatten(children)}</{name}>")


def row(*cells: Child) -> Html:
    """A row of a table; a cell may have several children."""
    return el("tr", [el("td", cell) for cell in cells])


def table(columns: Iterable[str], rows: Iterable[Html]) -> Html:
    """A table with a head, which can be moved sideways where it is too wide."""
    head = el("tr", [el("th", name) for name in columns])
    return el("div", el("table", el("thead", head), el("tbody", rows)), class_="scroll")


def link(url: str | None, text: str) -> Html | str:
    """A link to a web page; anything else than http and https is shown as text."""
    if url is None:
        return text
    try:
        scheme = urlsplit(url).scheme.lower()
    except ValueError:
        return text
    if scheme not in ("http", "https"):
        return text
    return el("a", text, href=url, rel="noopener noreferrer nofollow")


def data_uri(media_type: str, data: bytes) -> str:
    """A `data:` URI that holds the bytes in base64."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def page(title: str, stylesheet: str, *body: Child) -> str:
    """A whole document that may load nothing at all: no scripts, no fonts, no pictures but those inside it."""
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", title),
        Html(f"<style>{stylesheet}</style>"),
    )
    return f"<!doctype html>\n{el('html', head, el('body', *body), lang='en')}\n"


def _flatten(children: Iterable[Child]) -> str:
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Html):
            parts.append(str(child))
        elif isinstance(child, str | int | float):
            parts.append(_text(str(child)))
        else:
            parts.append(_flatten(child))
    return "".join(parts)


def _text(text: str) -> str:
    """Escaped; control and direction-changing characters are shown as a box, so that nothing can hide."""
    return html.escape("".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text))


def _attribute(key: str, value: str | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_text(str(value))}"'
