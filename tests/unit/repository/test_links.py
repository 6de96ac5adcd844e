"""Links of the documentation lead to files, and to headings of files, that are there."""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from support.docs_blocks import ROOT, documents

MARKDOWN = [ROOT / "CHANGELOG.md", *(path for path in documents() if path.suffix == ".md")]
_TEXT = ("text", "code_inline")


def tokens_of(path):
    tokens = MarkdownIt().enable("table").parse(path.read_text("utf-8"))
    return [*tokens, *(child for token in tokens for child in token.children or ())]


@cache
def anchors(path):
    """As GitHub names headings: small letters, no punctuation, hyphens for spaces, a number behind repeated ones."""
    seen: Counter[str] = Counter()
    names = set()
    tokens = tokens_of(path)
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            title = "".join(child.content for child in inline.children if child.type in _TEXT)
            name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            names.add(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
    return names


def dead_links(path):
    for token in tokens_of(path):
        link = urlsplit(str(token.attrGet("href") or token.attrGet("src") or ""))
        if link.scheme or link.netloc:
            continue
        target = path.parent / unquote(link.path) if link.path else path
        if not target.exists() or (link.fragment and link.fragment not in anchors(target)):
            yield link.geturl()


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path):
    assert list(dead_links(path)) == []


def test_dead_links_are_found(tmp_path):
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    other.write_text("# The `geotts` command, twice\n\n## Same\n\n## Same\n")
    alive = "[a](other.md) [b](other.md#the-geotts-command-twice) [c](other.md#same-1) [d](#here) [e](https://x.org/#y)"
    page.write_text(
        f"# Here\n\n{alive}\n\n| a |\n|---|\n| [f](gone.md) |\n\n[g](other.md#same-2) ![h](gone.png) [i](#i)\n"
    )
    assert list(dead_links(page)) == ["gone.md", "other.md#same-2", "gone.png", "#i"]
