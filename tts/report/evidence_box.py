"""One piece of evidence in a report: the claim, the quote, the page, and where it comes from."""

from __future__ import annotations

from typing import Literal

from tts.domain.answer import Evidence
from tts.report.markup import Html, el, link


def evidence_box(item: Evidence, kind: Literal["for", "against", "unsupported"], remark: str = "") -> Html:
    """The box of the evidence, in the colour of its kind. `remark` stands before its source."""
    source = " · ".join(
        part
        for part in (
            remark,
            item.tool,
            f"attempt {item.rollout_id}" if item.rollout_id is not None else "",
            f"call {item.call_id}" if item.call_id else "",
            item.retrieved_at,
        )
        if part
    )
    quote = el("blockquote", item.quote) if item.quote else None
    page = el("p", link(item.url, item.url), class_="small") if item.url else None
    return el("div", el("p", item.claim), quote, page, el("p", source, class_="soft small"), class_=f"box {kind}")
