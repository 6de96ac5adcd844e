"""Toolboxes of this process: which tool is called, and which failures the model reads."""

import asyncio

import pytest
from support.basics import a_context, virtual_time

from tts.domain.request import LocateOptions
from tts.domain.tooling import ToolCall
from tts.errors import ToolCrashed, ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import Arguments, FunctionTool, Observation, ToolSpec
from tts.toolkit.toolbox import JoinedToolbox, LocalToolbox


class Query(Arguments):
    query: str


def a_tool(name, text="found", *, wait_s=0.0, error=None, **spec):
    async def run(arguments, context):
        await asyncio.sleep(wait_s)
        if error is not None:
            raise error
        return Observation(text=f"{text} {arguments.query}")

    return FunctionTool(ToolSpec(name, "Searches.", **spec), Query, run)


async def call(box, name="search", arguments=None, **options):
    context = ToolContext(a_context(), options=LocateOptions(**options))
    return (await box.call(ToolCall(id="c", name=name, arguments=arguments or {"query": "x"}), context)).result


async def test_a_call_returns_what_the_tool_found():
    result = await call(LocalToolbox([a_tool("search")]))
    assert (result.ok, result.text, result.name) == (True, "found x", "search")


@pytest.mark.parametrize(
    ("tool", "asked", "kind", "says"),
    [
        (a_tool("search"), {"name": "teleport"}, ToolErrorKind.UNKNOWN_TOOL, "there are: search"),
        (a_tool("search"), {"arguments": {"query": 3}}, ToolErrorKind.INVALID_ARGUMENTS, "query: "),
        (a_tool("search", sends_photo=True), {}, ToolErrorKind.NOT_ALLOWED, "allow_region_search"),
        (a_tool("search", error=ToolError("no hits", kind=ToolErrorKind.NOT_FOUND)), {}, ToolErrorKind.NOT_FOUND,
         "Error (not_found): no hits"),
        (a_tool("search", error=ToolError("No hits.", kind=ToolErrorKind.NOT_FOUND, verbatim=True)), {},
         ToolErrorKind.NOT_FOUND, "No hits."),
    ],
)  # fmt: skip
async def test_a_failed_call_says_why(tool, asked, kind, says):
    result = await call(LocalToolbox([tool]), **asked)
    assert result.failure.kind is kind
    assert says in result.text


async def test_a_tool_that_sends_parts_of_the_photo_runs_where_the_request_consents():
    assert (await call(LocalToolbox([a_tool("search", sends_photo=True)]), allow_region_search=True)).ok


@virtual_time
async def test_a_tool_that_takes_longer_than_its_time_fails():
    result = await call(LocalToolbox([a_tool("search", wait_s=100.0, timeout_s=5.0)]))
    assert result.failure.kind is ToolErrorKind.TIMEOUT
    assert "longer than 5 s" in result.text


async def test_another_error_of_a_tool_is_a_crash_that_names_it():
    with pytest.raises(ToolCrashed, match="search"):
        await call(LocalToolbox([a_tool("search", error=ZeroDivisionError())]))


async def test_of_joined_toolboxes_the_first_that_has_a_tool_runs_it():
    box = JoinedToolbox(LocalToolbox([a_tool("search", "first")]), LocalToolbox([a_tool("search"), a_tool("look")]))
    assert [schema.name for schema in box.schemas()] == ["search", "look"]
    assert (await call(box)).text == "first x"
    unknown = await call(box, "teleport")
    assert "there are: look, search" in unknown.text
