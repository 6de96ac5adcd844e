"""A `geo:` URI (RFC 5870) with the uncertainty `u` in metres: the 90 % radius of the answer."""

from __future__ import annotations

from tts.domain.geo import LatLon

_DECIMALS = 6  # of a degree: 0.1 m


def geo_uri(point: LatLon, radius_km: float | None = None) -> str:
    """For example `geo:48.85837,2.294481;u=1500`. CRS is WGS-84, which is the default of section 3.4.1.

    At a pole the longitude is 0, and the antimeridian is written as 180 (section 3.4.2).
    """
    lat = round(point.lat, _DECIMALS)
    lon = 0.0 if abs(lat) == 90.0 else round(point.lon, _DECIMALS)
    if lon == -180.0:
        lon = 180.0
    uncertainty = "" if radius_km is None else f";u={_number(round(radius_km * 1000.0, 1))}"
    return f"geo:{_number(lat)},{_number(lon)}{uncertainty}"


def _number(value: float) -> str:
    """Digits without an exponent, as the grammar of section 3.3 wants them."""
    text = f"{value:.{_DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text
