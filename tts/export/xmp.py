"""An XMP sidecar (ISO 16684-1) with the estimated position and its uncertainty, for programs that manage photos.

The position stands in the Exif properties of XMP (CIPA DC-010: `GPSLatitude`, `GPSHPositioningError` in metres), the
names in those of IPTC and Photoshop. `GPSProcessingMethod` says that it is an estimate: no receiver measured it.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from tts.domain.answer import Answer
from tts.errors import DataError
from tts.export.export_source import LocatedPhoto
from tts.export.xml_text import add_text, xml_bytes

MEDIA_TYPE = "application/rdf+xml"
_NAMESPACES = {
    "x": "adobe:ns:meta/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "exif": "http://ns.adobe.com/exif/1.0/",
    "photoshop": "http://ns.adobe.com/photoshop/1.0/",
    "Iptc4xmpCore": "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/",
    "geotts": "urn:geotts:xmp:1",
}


def to_xmp(item: LocatedPhoto) -> bytes:
    """The sidecar of one photo; without a point it says what is known, and no position.

    Raises:
        DataError: the request has no answer.
    """
    answer = item.answer
    if answer is None:
        raise DataError(f"{item.name} has no answer: {item.failure}")
    for prefix, uri in _NAMESPACES.items():
        ET.register_namespace(prefix, uri)
    root = ET.Element(_name("x:xmpmeta"))
    described = ET.SubElement(ET.SubElement(root, _name("rdf:RDF")), _name("rdf:Description"), {_name("rdf:about"): ""})
    for name, text in {**_position(answer), **_names(answer), **_estimate(item, answer)}.items():
        if text:
            add_text(described, _name(name), text)
    return xml_bytes(root)


def _position(answer: Answer) -> dict[str, str]:
    point, radius = answer.point, answer.radius_km
    if point is None or radius is None:
        return {}
    return {
        "exif:GPSVersionID": "2.3.0.0",
        "exif:GPSLatitude": _angle(point.lat, "N", "S"),
        "exif:GPSLongitude": _angle(point.lon, "E", "W"),
        "exif:GPSMapDatum": "WGS-84",
        "exif:GPSHPositioningError": f"{round(radius.p90 * 1000)}/1",
        "exif:GPSProcessingMethod": f"estimated from the picture by GeoTTS {answer.provenance.version}".strip(),
    }


def _names(answer: Answer) -> dict[str, str]:
    return {
        "photoshop:City": answer.city,
        "photoshop:State": answer.region,
        "photoshop:Country": answer.country,
        "Iptc4xmpCore:CountryCode": answer.country_code,
        "Iptc4xmpCore:Location": answer.place,
    }


def _estimate(item: LocatedPhoto, answer: Answer) -> dict[str, str]:
    """What has no property of its own in the standards, in a namespace of GeoTTS."""
    radius = answer.radius_km
    return {
        "geotts:requestId": item.request_id,
        "geotts:level": str(answer.level),
        "geotts:confidence": f"{answer.confidence:.4f}",
        "geotts:targetRadiusKm": f"{answer.target_radius_km:g}",
        "geotts:radius50Km": f"{radius.p50:g}" if radius else "",
        "geotts:radius90Km": f"{radius.p90:g}" if radius else "",
        "geotts:sourceSha256": " ".join(answer.provenance.source_sha256),
        "geotts:answeredAt": answer.provenance.answered_at,
    }


def _angle(degrees: float, positive: str, negative: str) -> str:
    """`DDD,MM.mmmmmmk`: degrees and decimal minutes, to 2 mm."""
    millionths = round(abs(degrees) * 60 * 1_000_000)
    whole, minutes = divmod(millionths, 60 * 1_000_000)
    return f"{whole},{minutes / 1_000_000:.6f}{positive if degrees >= 0 else negative}"


def _name(prefixed: str) -> str:
    prefix, _, name = prefixed.partition(":")
    return f"{{{_NAMESPACES[prefix]}}}{name}"
