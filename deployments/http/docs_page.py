"""The reference of the API as a page: the same Markdown as `docs/api.md`, with links that lead somewhere here."""

from __future__ import annotations

import html
import itertools
import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GeoTTS: HTTP API</title>
<link rel="icon" href="/web/icon.svg">
<link rel="stylesheet" href="/web/page.css">
</head>
<body>
<main class="reference">
<nav aria-label="Contents">
<ul>
{contents}
</ul>
</nav>
{body}
</main>
</body>
</html>
"""


def docs_page(markdown: str) -> bytes:
    """HTML of a reference; markup in it is shown, not interpreted. Its sections are listed first, and can be linked."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(markdown)
    sections = dict(_named(tokens))
    contents = "\n".join(f'<li><a href="#{name}">{html.escape(title)}</a></li>' for name, title in sections.items())
    body = parser.renderer.render(tokens, parser.options, {})
    return _PAGE.format(contents=contents, body=body).encode()


def _named(tokens: list[Token]) -> list[tuple[str, str]]:
    """Give every section of the second level a name to link to; name and title of each."""
    named = []
    for heading, inline in itertools.pairwise(tokens):
        if heading.type == "heading_open" and heading.tag == "h2":
            name = re.sub(r"[^a-z0-9]+", "-", inline.content.lower()).strip("-")
            heading.attrSet("id", name)
            named.append((name, inline.content))
    return named
