"""The web search of GeoVista's evaluation: pages as JSON, no pages as an error (eval/utils_agent_tool.py:282-305)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from tools.released.facts import page_facts
from tools.released.sources.web_pages import PageSource
from tools.released.written_arguments import WrittenArguments, spec_of_written, verbatim_error
from tts.dialects.released.geovista.tool_texts import SEARCH_FAILED, SYSTEM, no_attribute_get
from tts.dialects.released.tool_name import released_tool_name
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Tool

_NO_RESULTS_TEXT: Final = (
    "Empty search results!! Please Check the availability of the search API key and network connection."
)


def search_tool(source: PageSource) -> Tool:
    """Make the web search of GeoVista over a page source.

    Args:
        source: where the pages come from; it is asked for the query as the model wrote it.

    Returns:
        The tool; failures have the words of the released code.
    """

    async def search(arguments: WrittenArguments, context: ToolContext) -> Observation:
        if not isinstance(arguments.written, dict):
            raise verbatim_error(no_attribute_get(arguments.written))
        query = arguments.written.get("query")
        try:
            pages = await source.pages(query, context.request)
        except ToolError as error:
            raise verbatim_error(f"{SEARCH_FAILED}{SEARCH_FAILED}{error.detail}", error.kind) from error
        if not pages:
            raise verbatim_error(f"{SEARCH_FAILED}{SEARCH_FAILED}{_NO_RESULTS_TEXT}", ToolErrorKind.NOT_FOUND)
        facts = page_facts(pages, str(query or ""), "web", text="body", link="href")
        found = {"name": "search_web", "query": query, "result": pages}
        return Observation(text=json.dumps(found, ensure_ascii=False, indent=2), facts=facts)

    name = released_tool_name("web_search", SYSTEM, "search_web")
    spec = replace(spec_of_written(name, "search_web of GeoVista, as released", source), ttl_s=86400.0)
    return FunctionTool(spec, WrittenArguments, search)
