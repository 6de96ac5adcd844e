"""Recorded searches of REVERSE in the configured toolbox: which searches they serve."""

import pytest
from support.basics import a_context
from support.evaluation_files import write_picture_search, write_text_search
from support.reverse_tables import PATH, PHOTO, write_recorded_tables

from deployments.config import AppArgs
from deployments.wiring.toolbox_assembly import make_tooling
from tts.config import ProviderSettings, ToolsConfig
from tts.dialects.settings import DialectSettings
from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolContext
from tts.toolkit.reverse_cache.tables import read_tables


@pytest.fixture
def tables(tmp_path):
    return write_recorded_tables(tmp_path)


async def test_searches_about_a_photo_are_served_by_the_matching_rules_of_reverse(tables, tmp_path):
    photos = tmp_path / "photos.csv"
    photos.write_text(f"sha256,image_path\n{PHOTO},{PATH}\n")
    settings = ProviderSettings(path=str(tables), photos=str(photos), matching="reverse")
    tools = ToolsConfig(providers=("tape", "offline"), settings={"tape": settings})
    toolbox = make_tooling(AppArgs(tools=tools), {}).toolbox
    context = ToolContext(a_context(), photo_sha256=(PHOTO,))

    async def ask(name, **arguments):
        return (await toolbox.call(ToolCall(id="c", name=name, arguments=arguments), context)).result

    found = await ask("web_search", query="something else entirely")
    assert [fact.url for fact in found.facts] == ["https://t01.example/"]
    found = await ask("image_search", bbox=[0.1, 0.2, 0.6, 0.7])
    assert [fact.url for fact in found.facts] == ["https://p1.example/", "https://p2.example/"]
    assert not (await ask("image_search", bbox=[0.0, 0.0, 0.3, 0.3])).ok
    other = ToolContext(a_context(), photo_sha256=("0" * 64,))
    call = ToolCall(id="c", name="web_search", arguments={"query": "something else entirely"})
    assert not (await toolbox.call(call, other)).result.ok


async def test_the_files_of_the_evaluation_serve_what_was_asked_before(tmp_path):
    write_text_search(tmp_path, "East Quay", {"title": "T", "url": "https://t.example/", "content": "c"})
    hit = {"pos": 1, "title": "P", "link": "https://p.example/"}
    write_picture_search(tmp_path, PATH, [100, 200, 600, 700], hit)
    photos = tmp_path / "photos.csv"
    photos.write_text(f"sha256,image_path\n{PHOTO},{PATH}\n")
    tools = ToolsConfig(
        providers=("tape", "offline"), settings={"tape": ProviderSettings(path=str(tmp_path), photos=str(photos))}
    )
    toolbox = make_tooling(AppArgs(tools=tools), {}).toolbox
    context = ToolContext(a_context(), photo_sha256=(PHOTO,))

    async def ask(name, **arguments):
        return (await toolbox.call(ToolCall(id="c", name=name, arguments=arguments), context)).result

    assert (await ask("web_search", query=" east QUAY")).facts[0].url == "https://t.example/"
    assert not (await ask("web_search", query="east quay museum")).ok
    assert (await ask("image_search", bbox=[0.1, 0.2, 0.6, 0.7])).facts[0].url == "https://p.example/"
    assert not (await ask("image_search", bbox=[0.1, 0.2, 0.6, 0.71])).ok


async def test_the_released_search_by_text_finds_what_was_recorded_for_the_photo(tables, tmp_path):
    photos = tmp_path / "photos.csv"
    photos.write_text(f"sha256,image_path\n{PHOTO},{PATH}\n")
    settings = {"tape": ProviderSettings(path=str(tables), photos=str(photos), matching="reverse")}
    tools = ToolsConfig(providers=("tape", "offline"), settings=settings)
    args = AppArgs(tools=tools, dialect="reverse", dialect_settings=DialectSettings(behaviour="released"))
    toolbox = make_tooling(args, {}).toolbox

    async def ask(sha256):
        context = ToolContext(a_context(), photo_sha256=(sha256,))
        written = {"query": read_tables(tables).texts[PATH][0].query}
        call = ToolCall(id="c", name="web_search.reverse.text_search_tool", arguments={"written": written})
        return (await toolbox.call(call, context)).result.text

    assert "https://t01.example/" in await ask(PHOTO)
    assert "No results found" in await ask("0" * 64)
