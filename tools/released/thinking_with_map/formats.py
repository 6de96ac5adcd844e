"""Replies as texts (api_server_redis.py, _extract_and_format_results). A field that is missing is empty."""

from __future__ import annotations

from typing import Any, Final

_TIP_FIELDS: Final = ("id", "name", "address", "typecode", "city")
_POI_FIELDS: Final = ("id", "name", "address", "typecode")
_DETAIL_FIELDS: Final = ("id", "name", "location", "address", "business_area", "cityname", "type", "alias")


def tips_text(reply: Any) -> str:
    """Write tips of AMap for the model.

    Args:
        reply: the JSON object of AMap's reply, of which `tips` is shown.

    Returns:
        Id, name, address, typecode and city of each, no point.
    """
    return _list_places(reply.get("tips", []), _TIP_FIELDS)


def pois_text(reply: Any) -> str:
    """Write places of a keyword search in AMap for the model.

    Args:
        reply: the JSON object of AMap's reply, of which `pois` is shown.

    Returns:
        Id, name, address and typecode of each, no point.
    """
    return _list_places(reply.get("pois", []), _POI_FIELDS)


def _list_places(places: Any, labels: tuple[str, ...]) -> str:
    """Places with an empty line between them; lines after a place's first start with a blank."""
    return "\n\n".join("\n ".join(f"{label}: {place.get(label, '')}" for label in labels) for place in places)


def detail_text(reply: Any) -> str:
    """Write the first place of a reply of AMap for the model.

    Args:
        reply: the JSON object of AMap's reply, of which the first of `pois` is shown.

    Returns:
        Its fields, with an empty line between them. `location` is "longitude,latitude" in GCJ-02.

    Raises:
        KeyError, IndexError: there is no place.
    """
    place = reply["pois"][0]
    return "\n\n".join(f"{label}: {place.get(label, '')}" for label in _DETAIL_FIELDS)


def pages_text(reply: Any) -> str:
    """Write pages of a web search for the model.

    Args:
        reply: the JSON object of Serper's reply, of which `organic` is shown.

    Returns:
        Title, snippet and date of each, no address; an empty block if there are no pages.

    Raises:
        KeyError: there is no `organic`, or a page has no title.
    """
    pages = [
        f'[{i}]"{page["title"]}\n{page.get("snippet", "")}"{page.get("date", "")}'
        for i, page in enumerate(reply["organic"], 1)
    ]
    return "```\n{}\n```".format("\n\n".join(pages))


def places_text(reply: Any) -> str:
    """Write places of a map search for the model.

    Args:
        reply: the JSON object of Serper's reply, of which `places` is shown.

    Returns:
        The fields of each place, with its point as the service writes it.

    Raises:
        KeyError: there is no `places`.
    """
    places = [
        f"[{i}] {place.get('title', '')}\nAddress: {place.get('address', '')}\nlatitude: {place.get('latitude', '')}\n"
        f"longitude: {place.get('longitude', '')}\nType: {', '.join(place.get('types', []))}\n"
        f"Description: {place.get('description', '')}"
        for i, place in enumerate(reply["places"], 1)
    ]
    return "```\n" + "\n\n".join(places) + "\n```"
