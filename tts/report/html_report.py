"""One answer as one HTML file: map, evidence, attempts, provenance. It loads nothing and runs nothing."""

from __future__ import annotations

import importlib.resources
import io

from PIL import Image

from tts.domain.answer import Answer
from tts.domain.photo import Photo
from tts.domain.trajectory import Run
from tts.errors import GeoTTSError
from tts.geodata.maps.cartographer import Cartographer
from tts.report import sections
from tts.report.answer_map import answer_map, overview_map
from tts.report.claim_section import claim_section, file_section
from tts.report.markup import Child, Html, data_uri, el, page
from tts.report.plain_words import plain

_PHOTO_SIDE_PX = 900
_JPEG_QUALITY = 85
_PROBABLY_INSIDE = "it is probably inside"
_AREAS_LEGEND = f"areas with a firm edge: {_PROBABLY_INSIDE} one of them · with a dashed edge: very probably"
_CIRCLES_LEGEND = f"firm circle: {_PROBABLY_INSIDE} · dashed circle: very probably"


def report_page(run: Run, cartographer: Cartographer, photo: Photo | None = None, *, title: str = "") -> str:
    """The report of a finished run as a whole HTML document.

    `photo` is shown when given: the clean copy, scaled down. Raises GeoTTSError when the run has no answer.
    """
    answer = run.answer
    if answer is None:
        raise GeoTTSError("there is no answer to report on")
    name = sections.place_name(answer) or "unknown place"
    body = el(
        "main",
        sections.contradictions(answer),
        claim_section(answer),
        sections.headline(answer),
        sections.per_photo(answer),
        sections.warnings(answer),
        _pictures(run, cartographer, photo),
        [el("h2", "Why"), el("p", plain(answer.explanation))] if answer.explanation else None,
        el("h2", "Evidence"),
        sections.evidence(answer),
        sections.candidates(answer),
        sections.rollouts(run),
        file_section(answer),
        el("h2", "Provenance"),
        sections.provenance(answer),
    )
    stylesheet = importlib.resources.files("tts").joinpath("data/report/report.css").read_text()
    return page(f"{title} · {name}" if title else name, stylesheet, body)


def _pictures(run: Run, cartographer: Cartographer, photo: Photo | None) -> Child:
    assert run.answer is not None
    main, overview = answer_map(cartographer, run.answer), overview_map(cartographer, run.answer)
    aside: list[Child] = []
    if photo is not None:
        picture = photo.image()
        picture.thumbnail((_PHOTO_SIDE_PX, _PHOTO_SIDE_PX))
        aside.append(_figure(picture, "the photo, without its metadata", class_="photo"))
    if overview is not None:
        aside.append(_figure(overview, "in the world"))
    if main is None:
        return el("div", aside, class_="side") if aside else None
    caption = f"pin: the answer · {_circles(run.answer)} · numbers: other candidates"
    return el("div", _figure(main, caption, img_class="map"), el("div", aside, class_="side"), class_="pictures")


def _circles(answer: Answer) -> str:
    """What the circles or areas on the map are; where the 90 % circle is wider than a continent, the 50 % ones."""
    if answer.radius_km is not None and (remark := answer.radius_km.remark):
        if answer.region_50 is not None:
            areas = (
                "the estimated place is in one of them" if answer.radius_remark else f"{_PROBABLY_INSIDE} one of them"
            )
            return f"areas: {areas}; {remark}"
        return f"circle: {'the estimated radius' if answer.radius_remark else _PROBABLY_INSIDE}; {remark}"
    if answer.region_90 is not None:
        return "areas: the estimated place is in one of them" if answer.radius_remark else _AREAS_LEGEND
    return "circles: the estimated radius" if answer.radius_remark else _CIRCLES_LEGEND


def _figure(picture: Image.Image, caption: str, *, class_: str = "", img_class: str = "map") -> Html:
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=_JPEG_QUALITY)
    size = {"width": str(picture.width), "height": str(picture.height)}
    kind = "" if class_ == "photo" else img_class
    image = el("img", src=data_uri("image/jpeg", out.getvalue()), alt=caption, class_=kind, **size)
    return el("figure", image, el("figcaption", caption), class_=class_)
