"""The search by text of the evaluation (`execute_text_search`): each query by itself, numbers begin again with each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tools.photo_hosts import PHOTO_HOSTS
from tools.released.facts import page_facts
from tools.released.reverse.eval_arguments import as_call_error, call_error, object_of
from tools.released.reverse.page_source import PageSource
from tools.released.written_arguments import WrittenArguments
from tts.dialects.released.reverse.eval_tool_parser import TEXT_SEARCH
from tts.dialects.released.reverse.served_tools import EVAL_SYSTEM
from tts.dialects.released.tool_name import released_tool_name
from tts.domain.tooling import WebFact
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Splitting, Tool, ToolSpec

_NO_KEY: Final = "Tavily API key not set (env TAVILY_API_KEY)"
_KEYS_EXHAUSTED: Final = "all API keys exhausted"


class QueryPart(WrittenArguments):
    """One of the queries of a call. What makes the call invalid stands in `invalid`."""

    query: str = ""
    invalid: str = ""


def text_search_tool(source: PageSource | None, excluded: Sequence[str] = tuple(sorted(PHOTO_HOSTS))) -> Tool:
    """Make the search by text of the evaluation.

    Args:
        source: where the pages come from; None: the tool says, in the words of the authors' tool, that it has no key.
        excluded: host names in lower case; a page is of a host if its URL contains the name.

    Returns:
        The tool. It leaves out the `excluded` hosts where the request hides photo hosts.
    """

    async def search(part: QueryPart, context: ToolContext) -> Observation:
        if part.invalid:
            raise call_error(part.invalid)
        if not part.query:
            return Observation(text="Empty query")
        if source is None:
            return Observation(text=_NO_KEY)
        hidden = tuple(excluded) if context.options.hide_photo_hosts else ()
        found = [page for page in await source.pages(part.query, hidden, context) if not _is_from_hosts(page, hidden)]
        facts = page_facts(found, part.query, "Tavily", text="content", link="url")
        return Observation(text=_pages_text(part.query, found), facts=facts)

    spec = ToolSpec(
        released_tool_name("web_search", EVAL_SYSTEM, TEXT_SEARCH),
        f"{TEXT_SEARCH} of REVERSE, as released",
        provider="none" if source is None else source.name,
        needs_network=source is not None and source.needs_network,
        depends_on_photo=source is not None and source.depends_on_photo,
        hides_hosts=True,
        ttl_s=86400.0,
    )
    return FunctionTool(spec, QueryPart, search, Splitting(split=_split_queries, join=_join_results))


def _split_queries(arguments: QueryPart) -> list[QueryPart]:
    try:
        with as_call_error():
            query = object_of(arguments.written).get("query", "")
    except ToolError as error:
        return [QueryPart(invalid=error.detail.removeprefix("Tool call error: "))]
    if isinstance(query, list):
        queries = [one for one in query if isinstance(one, str) and one.strip()]
        return [QueryPart(query=one) for one in queries] or [QueryPart()]
    if isinstance(query, str) and query.strip():
        return [QueryPart(query=query)]
    return [QueryPart(invalid=f"Invalid query: {query!r}")]


def _join_results(arguments: QueryPart, parts: Sequence[Observation | ToolError], context: ToolContext) -> Observation:
    """Texts one after another; a query that failed says so and leaves its siblings."""
    texts, facts = [], []
    for part in parts:
        if isinstance(part, Observation):
            texts.append(part.text)
            facts += [fact for fact in part.facts if isinstance(fact, WebFact)]
        elif part.kind is ToolErrorKind.INVALID_ARGUMENTS:
            raise part
        else:
            texts.append(f"Tavily search failed: {_failure_text(part)}\n")
    return Observation(text="\n".join(texts).strip(), facts=tuple(facts))


def _failure_text(error: ToolError) -> str:
    return _KEYS_EXHAUSTED if error.kind is ToolErrorKind.QUOTA else error.detail


def _pages_text(query: str, pages: Sequence[Mapping[str, Any]]) -> str:
    if not pages:
        return f"No results found for query: {query}\n"
    listed = [
        f"[{number}] {page.get('title', '')}\nURL: {page.get('url', '')}\n{page.get('content', '')}\n"
        for number, page in enumerate(pages, 1)
    ]
    return "\n".join([f"Web search results for: {query}\n", *listed])


def _is_from_hosts(page: Mapping[str, Any], hosts: Sequence[str]) -> bool:
    return any(host in str(page.get("url", "")).lower() for host in hosts)
