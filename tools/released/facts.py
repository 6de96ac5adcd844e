"""Turns replies of services into facts for the evidence checks. Only text that the model reads becomes a fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tts.domain.geo import LatLon
from tts.domain.tooling import Fact, PlaceFact, WebFact
from tts.geodata.datum import as_wgs84


def amap_facts(reply: Any, *, with_points: bool) -> tuple[Fact, ...]:
    """Turn tips or places of AMap into facts.

    Args:
        reply: the JSON object of AMap's reply, of which `tips` or `pois` is read; entries without a name are left out.
        with_points: whether the model reads the points; if not, the facts have none.

    Returns:
        One fact for each, in AMap's order. Points are converted from GCJ-02 to WGS-84, once, here.
    """
    listed = reply.get("tips") or reply.get("pois") or ()
    return tuple(_amap_fact(poi, with_points) for poi in listed if isinstance(poi, Mapping) and _text(poi, "name"))


def serper_places(reply: Any) -> tuple[Fact, ...]:
    """Turn places of a reply of Serper's maps into facts.

    Args:
        reply: the JSON object of the reply, of which `places` is read.

    Returns:
        One fact for each, in Serper's order; the country is not known.
    """
    return tuple(_serper_fact(place) for place in reply.get("places") or () if isinstance(place, Mapping))


def serper_pages(reply: Any, query: str) -> tuple[Fact, ...]:
    """Turn organic hits of a reply of Serper's search into facts.

    Args:
        reply: the JSON object of the reply, of which `organic` is read.
        query: what was searched for; each fact states it.

    Returns:
        One fact for each, in Serper's order, numbered from 1.
    """
    pages = [page for page in reply.get("organic") or () if isinstance(page, Mapping)]
    return tuple(
        WebFact(
            number=i,
            title=_text(page, "title"),
            snippet=_text(page, "snippet"),
            url=_text(page, "link"),
            query=query,
            source="Serper",
        )
        for i, page in enumerate(pages, 1)
    )


def page_facts(
    pages: Sequence[Mapping[str, Any]], query: str, source: str, *, text: str, link: str
) -> tuple[WebFact, ...]:
    """Turn pages as the model reads them into facts.

    Args:
        pages: of any JSON values by their names; each has a `title`, or none.
        query: what was searched for; each fact states it.
        source: what each fact states as its source.
        text, link: the names under which a page has its text and its URL.

    Returns:
        One fact for each, in the order given, numbered from 1.
    """
    return tuple(
        WebFact(
            number=number,
            title=str(page.get("title") or ""),
            snippet=str(page.get(text) or ""),
            url=str(page.get(link) or ""),
            query=query,
            source=source,
        )
        for number, page in enumerate(pages, 1)
    )


def _amap_fact(poi: Mapping[str, Any], with_points: bool) -> PlaceFact:
    lon, _, lat = _text(poi, "location").partition(",")
    point = _point(lat, lon) if with_points else None
    return PlaceFact(
        id=_text(poi, "id"),
        name=_text(poi, "name"),
        place_kind=_text(poi, "type"),
        point=None if point is None else as_wgs84(point, "GCJ-02"),
        country_code="CN",
        admin1=_text(poi, "pname"),
        address=_text(poi, "address"),
        source="AMap",
    )


def _serper_fact(place: Mapping[str, Any]) -> PlaceFact:
    return PlaceFact(
        id=f"cid:{_text(place, 'cid')}",
        name=_text(place, "title"),
        place_kind=_text(place, "type"),
        point=_point(place.get("latitude"), place.get("longitude")),
        address=_text(place, "address"),
        source="Google Maps through Serper",
    )


def _point(lat: Any, lon: Any) -> LatLon | None:
    try:
        return LatLon(lat=float(lat), lon=float(lon))
    except (TypeError, ValueError):
        return None


def _text(place: Mapping[str, Any], key: str) -> str:
    value = place.get(key)
    return value if isinstance(value, str) else ""
