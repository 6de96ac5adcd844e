"""The made-up services of the rows: pages by query and look-alikes by region, in the form of Tavily and of a lens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.made_up_replies import http_failure
from tools.released.reverse.lens import hits_of_organic
from tools.released.reverse.page_source import pages_of, request_body
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext

_TEXT_CHARS: Final = 60
_QUOTA_STATUSES: Final = (429, 432)
_COUNT_BY_WORD: Final = {"no": 0, "none": 0, "one": 1, "two": 2, "three": 3}
_COUNT_FOR_QUERY: Final = re.compile(r'(one|two|three|none|no)(?: results?)? for "([^"]+)"')
_COUNT_FOR_EACH: Final = re.compile(r"(one|two|three) results? for each query")
_DEFAULT_COUNT: Final = 2
_UNREADABLE_ERRORS: Final = (LookupError, TypeError, ValueError, AttributeError, OverflowError)


class MadeUpPages:
    """A `PageSource` that answers as the rows of a corpus say, and keeps what it was asked."""

    name = "tavily"
    needs_network = False
    depends_on_photo = False

    def __init__(self, row: Row | None, corpus: Corpus) -> None:
        self._provider: Mapping[str, Any] = (row or {}).get("provider") or {}
        self._known_replies = _known_replies(corpus)
        self.requests: list[dict[str, Any]] = []

    async def pages(self, query: str, excluded: Sequence[str], context: ToolContext) -> Sequence[dict[str, Any]]:
        """Pages of the row's reply, of another row with this query, or two. Raises ToolError as the row fails."""
        body = request_body(query, excluded)
        if body not in self.requests:
            self.requests.append(body)
        if self._provider.get("status") in _QUOTA_STATUSES:
            raise ToolError("used up", kind=ToolErrorKind.QUOTA)
        failure = http_failure(self._provider)
        if failure is not None:
            raise ToolError(failure, kind=ToolErrorKind.BLOCKED)
        return self._results(query)

    def _results(self, query: str) -> list[dict[str, Any]]:
        reply = self._provider.get("reply")
        if isinstance(reply, dict | list) and (query not in self._known_replies or _is_reply_to(reply, query)):
            return [*pages_of(reply)]
        counts = _counts_by_query(reply) if isinstance(reply, str) else {}
        found = counts.get(query, counts.get("", -1))
        if found >= 0:
            return made_pages(query, found)
        return self._known_replies[query] if query in self._known_replies else made_pages(query, _DEFAULT_COUNT)


def _is_reply_to(reply: Any, query: str) -> bool:
    return isinstance(reply, dict) and reply.get("query") == query


class MadeUpLens:
    """A `LensSource` over the reply of a row; of a region that an earlier row asked for, its reply."""

    name = "lens"
    needs_network = False
    sends_photo = False

    def __init__(self, row: Row | None, corpus: Corpus, excluded: Sequence[str] = ()) -> None:
        self._provider: Mapping[str, Any] = (row or {}).get("provider") or {}
        self._excluded_domains = excluded
        self._earlier_regions = _earlier_regions(row, corpus)
        self.asked = 0

    def remember_first(self, arguments: Any) -> None:
        """An earlier row asked for the first of these regions: where the corpus has it not, with the usual reply."""
        boxes = arguments.get("bbox_2d") if isinstance(arguments, dict) else None
        if isinstance(boxes, list) and boxes and isinstance(boxes[0], list):
            self._earlier_regions.setdefault(tuple(int(side) for side in boxes[0]), made_look_alikes(_DEFAULT_COUNT))

    async def hits(self, box: Sequence[int], context: ToolContext) -> Sequence[dict[str, Any]]:
        """Hits of the row's reply, or two where it has none; `asked` counts what no earlier row had."""
        if (known := self._earlier_regions.get(tuple(box))) is not None:
            return hits_of_organic(known, self._excluded_domains)
        self.asked += 1
        failure = http_failure(self._provider)
        if failure is not None:
            raise ToolError(failure, kind=ToolErrorKind.BLOCKED)
        reply = self._provider.get("reply")
        if not isinstance(reply, dict | list):
            return hits_of_organic(made_look_alikes(_DEFAULT_COUNT), self._excluded_domains)
        try:
            return hits_of_organic(organic_of(reply), self._excluded_domains)
        except (LookupError, TypeError, AttributeError) as error:
            raise ToolError(str(error), kind=ToolErrorKind.UNAVAILABLE) from error


def made_pages(query: str, count: int) -> list[dict[str, Any]]:
    """Pages as the corpus makes them up."""
    return [
        {
            "title": f"Result {i} on {query}",
            "url": f"https://w{i}.example/page",
            "content": (f"Text {i} that names the place {query} and says more about it. " * 2)[:_TEXT_CHARS],
        }
        for i in range(1, count + 1)
    ]


def made_look_alikes(count: int) -> list[dict[str, Any]]:
    """Look-alikes as the corpus makes them up."""
    return [
        {"pos": i, "title": f"Look-alike {i}", "url": f"https://h{i}.example/p", "domain": f"h{i}.example"}
        for i in range(1, count + 1)
    ]


def organic_of(reply: Any) -> list[dict[str, Any]]:
    """The organic hits of a lens reply. Raises LookupError, TypeError or AttributeError for another form."""
    organic: list[dict[str, Any]] = reply["results"][0]["content"]["results"].get("organic", [])
    return organic


def _counts_by_query(reply: str) -> dict[str, int]:
    """Results by query; "" for every query."""
    each = _COUNT_FOR_EACH.search(reply)
    found = {query: _COUNT_BY_WORD[word] for word, query in _COUNT_FOR_QUERY.findall(reply)}
    return {**found, "": _COUNT_BY_WORD[each[1]]} if each is not None else found


def _known_replies(corpus: Corpus) -> dict[str, list[dict[str, Any]]]:
    """Replies that the rows of tools state, by query."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in corpus.rows("reverse", "tools"):
        reply = (row.get("provider") or {}).get("reply")
        if isinstance(reply, dict) and isinstance(reply.get("query"), str):
            found.setdefault(reply["query"], list(reply.get("results", [])))
        elif isinstance(reply, str):
            for query, count in _counts_by_query(reply).items():
                found.setdefault(query, made_pages(query, count))
    return found


def _requested_region(arguments: Any) -> tuple[int, ...]:
    """The one region of a call, in whole thousandths. Raises ValueError and others where it has none or several."""
    return tuple(int(float(side)) for side in arguments["bbox_2d"])


def _reply_of(row: Row) -> Any:
    """The body that a row's provider sent. Raises LookupError where it sent a failure instead."""
    if row["provider"]["status"] != HTTPStatus.OK:
        raise LookupError(row["id"])
    return row["provider"]["reply"]


def _earlier_regions(row: Row | None, corpus: Corpus) -> dict[tuple[int, ...], list[dict[str, Any]]]:
    """What the rows before this one brought back: their regions are in the cache of the released code."""
    found: dict[tuple[int, ...], list[dict[str, Any]]] = {}
    if row is None:
        return found
    for earlier in corpus.rows("reverse", "tools"):
        if earlier["id"] == row["id"]:
            break
        if earlier.get("tool") == "image_search_tool" and earlier.get("path") == "eval":
            with suppress(*_UNREADABLE_ERRORS):
                found[_requested_region(earlier["arguments"])] = organic_of(_reply_of(earlier))
    return found
