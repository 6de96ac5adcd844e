"""What a search for a name inside a country brings: mentions of places whose names were read nearly right.

All over the world every short run of letters is nearly some town; inside one country few are. So a name that nothing
explains is only compared with others of its likeness after somebody has looked it up where the photo seems to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tts.clues.mentions import Mention, MentionReader
from tts.domain.tooling import PlaceFact, ToolCall, ToolResult
from tts.geodata.gazetteer import Gazetteer, Match, Place
from tts.geodata.names import normalise

SEARCH = "poi_keyword_search"


def looked_up(
    calls: Iterable[ToolCall], results: Iterable[ToolResult], names: MentionReader, gazetteer: Gazetteer
) -> Iterator[Mention]:
    """Mentions from searches inside a country, each query once; what is spelt exactly so is known without a search."""
    asked = {call.id: call for call in calls if call.name == SEARCH and call.arguments.get("country")}
    seen: set[str] = set()
    for result in results:
        call = asked.get(result.call_id)
        query = normalise(str(call.arguments.get("query", ""))) if call is not None else ""
        if not query or query in seen or gazetteer.search(query, limit=1, fuzzy=False):
            continue
        seen.add(query)
        facts = [fact for fact in result.facts if isinstance(fact, PlaceFact)]
        mention = names.looked_up(
            query, [match for fact in facts if (match := _match(fact, query, gazetteer)) is not None]
        )
        if mention is not None:
            yield mention


def _match(fact: PlaceFact, query: str, gazetteer: Gazetteer) -> Match | None:
    """A provider's place as the gazetteer's; None without a point or when it is a whole country.

    Main names are in Latin letters.
    """
    if fact.point is None or fact.place_kind == "country":
        return None
    place = gazetteer.get(fact.id) or Place(
        fact.id, fact.name, "city", fact.point, fact.country_code, fact.admin1, fact.population or 0
    )
    score = fact.score if fact.score is not None else 1.0
    return Match(place, score, fact.name, primary=query.isascii())
