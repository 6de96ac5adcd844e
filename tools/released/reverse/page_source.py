"""Where the evaluation's search by text gets its pages: Tavily as the authors ask it, or a stand-in of its form."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final, Protocol

from tools.providers import tavily
from tools.providers.provider import Service
from tools.released.reverse.eval_arguments import as_call_error
from tools.released.sources.reply import raw_reply
from tools.tool_provider import StandIn, ToolProvider
from tools.web import PhotoWebProvider, WebProvider, found_pages
from tts.errors import ToolError, ToolErrorKind
from tts.net.http_client import HttpReply
from tts.ports.toolbox import ToolContext
from tts.toolkit.broker.provider_client import ProviderFailure, ProviderRequest

_MAX_PAGES: Final = 10
_FIELDS: Final = ("title", "url", "content")
_FIRST_ERROR_STATUS = 400
_FIRST_SERVER_ERROR_STATUS = 500
Pages = Sequence[dict[str, Any]]


class PageSource(ToolProvider, Protocol):
    """Pages of a search by text."""

    @property
    def depends_on_photo(self) -> bool:
        """Whether its pages depend on the photo."""
        ...

    async def pages(self, query: str, excluded: Sequence[str], context: ToolContext) -> Pages:
        """Search the web by text.

        Args:
            query: what the model wrote.
            excluded: hosts whose pages are not wanted; a service that cannot exclude them may return some.
            context: the request and its photos, for sources whose pages depend on them.

        Returns:
            Pages with `title`, `url` and `content`, best first; empty when nothing is found.

        Raises:
            ToolError: no reply came; QUOTA if every key is used up.
        """
        ...


def request_body(query: str, excluded: Sequence[str]) -> dict[str, Any]:
    """What is asked, without the key: https://docs.tavily.com/documentation/api-reference/endpoint/search

    Args:
        query: what the model wrote.
        excluded: host names whose pages are not wanted; if empty, the service is not asked to exclude any.

    Returns:
        The JSON object that is sent.
    """
    body: dict[str, Any] = {
        "query": query,
        "max_results": _MAX_PAGES,
        "include_answer": False,
        "include_raw_content": False,
    }
    return {**body, "exclude_domains": list(excluded)} if excluded else body


def pages_of(body: Any) -> Pages:
    """The pages of a reply, whose texts stay as they are. A reply of another form fails in the words of Python.

    Args:
        body: the reply of Tavily, any JSON value.

    Returns:
        The `title`, `url` and `content` of each page, "" for one that is missing.

    Raises:
        ToolError: the reply is no object (BLOCKED), or its pages are of another form (INVALID_ARGUMENTS).
    """
    if not isinstance(body, dict):
        raise ToolError(f"'{type(body).__name__}' object has no attribute 'get'", kind=ToolErrorKind.BLOCKED)
    with as_call_error():
        return [{name: page.get(name, "") for name in _FIELDS} for page in body.get("results", [])]


class TavilyPages(Service):
    """Tavily itself; texts as they come."""

    name: Final = "tavily"
    depends_on_photo: Final = False

    async def pages(self, query: str, excluded: Sequence[str], context: ToolContext) -> Pages:
        """At most 10 results as Tavily writes them. A refusal (4xx) is BLOCKED, in the requests library's words."""
        request = ProviderRequest(f"{self._base}/search", method="POST", json=request_body(query, excluded))
        fetched = await self._client.ask(request, context.request, _judge)
        if fetched.status >= _FIRST_ERROR_STATUS:
            raise ToolError(_http_error_text(fetched.status, request.url), kind=ToolErrorKind.BLOCKED)
        return pages_of(raw_reply(fetched).body)


def _judge(reply: HttpReply) -> ProviderFailure | None:
    """Used-up keys and failing servers are the client's; other refusals are worded as in the authors' library."""
    if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
        return ProviderFailure("quota", "the key is used up")
    failure = tavily.judge(reply)
    return failure if failure is None or failure.kind == "quota" or reply.status >= _FIRST_SERVER_ERROR_STATUS else None


def _http_error_text(status: int, url: str) -> str:
    """The text of an HTTP error of the requests library."""
    phrase = HTTPStatus(status).phrase if status in {found.value for found in HTTPStatus} else ""
    return f"{status} {'Client' if status < _FIRST_SERVER_ERROR_STATUS else 'Server'} Error: {phrase} for url: {url}"


class PagesStandIn(StandIn[WebProvider]):
    """Another provider's pages in the same form.

    Args:
        web: where the pages come from; of recorded searches, those of the first photo.
    """

    def __init__(self, web: WebProvider) -> None:
        super().__init__(web)
        self.depends_on_photo = isinstance(web, PhotoWebProvider)

    async def pages(self, query: str, excluded: Sequence[str], context: ToolContext) -> Pages:
        """At most 10 hits in Tavily's form; `excluded` is ignored."""
        hits = await found_pages(self._provider, query, limit=_MAX_PAGES, context=context)
        return [{"title": hit.title, "url": hit.url, "content": hit.snippet} for hit in hits]
