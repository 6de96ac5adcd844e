"""GeoAgent's geocoder: one question to OpenCage, a shorter one when nothing is found, the same again when it fails.

Sans I/O: `ask` yields queries and is sent replies, so that the reward, the provider and the tests share it
(`GeoScoreAccuracy` of the commit in `geoagent_reward.py`; the API is described at opencagedata.com/api).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, NamedTuple

URL = "https://api.opencagedata.com/geocode/v1/json"
_MAX_RETRIES = 5
_FOUND_CODE = 200
_TIMED_OUT = 408
_TOO_LONG = 410
_TOO_MANY = 429
_UNREADABLE = 999


class Reply(NamedTuple):
    """The body of an HTTP 200, or `failure`: why there is none."""

    body: Any = None
    failure: str | None = None


Result = dict[str, Any]
"""`status` "success" with `longitude`, `latitude`, `confidence`, `formatted_address`, `components`; or "error" with
`code`, `message` and the `address` that failed."""


def query_of(address: str) -> str:
    """The query for an address: its separators become commas, the order stays."""
    return address.replace(";", ",").replace("；", ",").replace("，", ",")


def parameters(address: str) -> dict[str, Any]:
    """The query parameters without the key."""
    return {"q": query_of(address), "language": "en", "limit": 1}


def without_last_part(address: str) -> str | None:
    """The address without its last part; None when no plain semicolon parts it."""
    head, separator, _ = address.rpartition(";")
    return head if separator else None


def ask(address: str) -> Generator[str, Reply, Result]:
    """Yields addresses to ask for (see `parameters`), takes replies, returns the result. At most 5 repeats in all."""
    repeats = 0
    while True:
        reply = yield address
        if reply.failure is not None:
            if repeats < _MAX_RETRIES:
                repeats += 1
                continue
            return _error_result(0, reply.failure, address)
        try:
            code, message, found = _parse_body(reply.body)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            return _error_result(_UNREADABLE, str(error), address)
        if found is not None:
            return found
        if code in (_TOO_MANY, _TIMED_OUT) and repeats < _MAX_RETRIES:
            repeats += 1
        elif code in (_FOUND_CODE, _TOO_LONG) and (shorter := without_last_part(address)) is not None:
            address = shorter
        else:
            return _error_result(code, message, address)


def _parse_body(body: Any) -> tuple[Any, Any, Result | None]:
    status = body["status"]
    code = status["code"]
    if code != _FOUND_CODE:
        return code, status["message"], None
    results = body["results"]
    return code, status["message"] if not results else "", _success_result(results[0]) if results else None


def _success_result(result: Mapping[str, Any]) -> Result:
    geometry = result["geometry"]
    return {
        "status": "success",
        "longitude": geometry["lng"],
        "latitude": geometry["lat"],
        "confidence": result.get("confidence", 0),
        "formatted_address": result.get("formatted", ""),
        "components": result.get("components", {}),
    }


def _error_result(code: Any, message: Any, address: str) -> Result:
    return {"status": "error", "code": code, "message": message, "address": address}
