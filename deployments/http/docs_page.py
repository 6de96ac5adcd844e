"""The reference of the API as a page: the Markdown of `docs/api.md`, and the values that its fields have.

Each operation has a place for its example, which `reference.js` makes and runs. The page works without it.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>GeoTTS: HTTP API</title>
<link rel="icon" href="web/icon.svg">
<link rel="stylesheet" href="web/page.css">
<link rel="stylesheet" href="web/reference.css">
<script type="module" src="web/reference.js"></script>
</head>
<body>
<a class="skip" href="#reference">Skip to the reference</a>
<header class="top">
  <p class="brand"><img src="web/icon.svg" alt="" width="28" height="28"> GeoTTS</p>
  <nav aria-label="Pages"><a href="./">The page</a> <a href="openapi.json">openapi.json</a></nav>
</header>
<div class="reference">
<nav aria-label="Contents">
<p class="field"><label for="find">Find</label><input type="search" id="find" autocomplete="off"></p>
<ul>
{contents}
</ul>
</nav>
<main id="reference" tabindex="-1">
<form id="trying" class="trying">
  <p class="field"><label for="sample">Photo for the examples</label>
    <input type="file" id="sample" accept="image/*,.heic,.heif,.avif" aria-describedby="sample-note">
    <small id="sample-note">without one, a drawn town sign of the project</small></p>
  <p class="field" id="key-field" hidden><label for="key">API key</label>
    <input type="password" id="key" autocomplete="off" spellcheck="false" aria-describedby="key-note">
    <small id="key-note">kept in this tab only</small></p>
</form>
{body}
</main>
</div>
</body>
</html>
"""
_FIELD_ROW = re.compile(r"^(\| `[^|]+` \| )([^|]+)( \| .*)$", re.MULTILINE)
_TYPE_NAME = re.compile(r"\b[A-Z][A-Za-z0-9]+\b")
_OPERATION_HEADING = re.compile(r"(GET|POST|PUT|DELETE) /")


def docs_page(markdown: str) -> bytes:
    """HTML of a reference; markup in it is shown, not interpreted. Its sections are listed first, and can be linked."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(_link_types(markdown))
    contents = "\n".join(
        f'<li><a href="#{name}">{html.escape(title)}</a></li>'
        for level, name, title in _name_headings(tokens)
        if level == "h2"
    )
    body = "\n".join(_section_html(part, parser) for part in _split_sections(tokens))
    return _PAGE.format(contents=contents, body=body).encode()


def _link_types(markdown: str) -> str:
    """With a link from the type of each field to the section of that value, where there is one."""
    there = set(re.findall(r"^### ([A-Z]\w+)$", markdown, re.MULTILINE))

    def link(found: re.Match[str]) -> str:
        return f"[{found[0]}](#{found[0].lower()})" if found[0] in there else found[0]

    return _FIELD_ROW.sub(lambda row: row[1] + _TYPE_NAME.sub(link, row[2]) + row[3], markdown)


def _name_headings(tokens: list[Token]) -> list[tuple[str, str, str]]:
    """Give every section of the second and third level a name to link to; level, name and title of each."""
    named = []
    for heading, inline in itertools.pairwise(tokens):
        if heading.type == "heading_open" and heading.tag in ("h2", "h3"):
            title = inline.content.strip("`")
            name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
            heading.attrSet("id", name)
            named.append((heading.tag, name, title))
    return named


def _split_sections(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    starts = [i for i, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"]
    for start, end in itertools.pairwise([0, *starts, len(tokens)]):
        yield tokens[start:end]


def _section_html(tokens: Sequence[Token], parser: MarkdownIt) -> str:
    """A section; that of an operation has the place of its example after the first paragraph."""
    render = parser.renderer.render
    if len(tokens) < 2 or tokens[0].tag != "h2":
        return str(render(tokens, parser.options, {}))
    closed = next((i for i, token in enumerate(tokens) if token.type == "paragraph_close"), 2) + 1
    tried = '<div class="try"></div>' if _OPERATION_HEADING.match(tokens[1].content) else ""
    head, rest = (render(part, parser.options, {}) for part in (tokens[:closed], tokens[closed:]))
    rest = rest.replace("<th></th>", "<th>meaning</th>")
    return f'<section aria-labelledby="{tokens[0].attrs["id"]}">\n{head}{tried}{rest}</section>'
