"""Google Cloud Vision, web detection: pages with this picture, pictures like it, and what they are about.

https://cloud.google.com/vision/docs/reference/rest/v1/images/annotate and
https://cloud.google.com/vision/docs/reference/rest/v1/AnnotateImageResponse (WebDetection, google.rpc.Status).
The picture travels in the request, so nothing has to be kept anywhere for it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote, urlsplit

from tools.providers.google import IN_HEADER, CamelCaseReply
from tools.providers.plain_text import plain_text
from tools.providers.provider import Provider, Service
from tools.region_search.picture import RegionPicture
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.net.http_client import HttpReply
from tts.toolkit.broker.provider_client import (
    FailureKind,
    ProviderFailure,
    ProviderRequest,
    judge_status,
)
from tts.toolkit.broker.provider_limits import ProviderLimits

BASE_URL: Final = "https://vision.googleapis.com"
LIMITS: Final = ProviderLimits(per_s=10.0, burst=10.0, timeout_s=20.0)
_SOURCE_NAME = "Google Vision"
_MAX_ENTITIES = 3
_MAX_SIMILAR = 5
# google.rpc.Code of a single picture's error; any other is a fault of the service
_FAILURE_KINDS: Final[dict[int, FailureKind]] = {3: "refused", 7: "key", 8: "rate", 16: "key"}


class _Image(CamelCaseReply):
    url: str


class _Page(CamelCaseReply):
    url: str
    page_title: str = ""
    full_matching_images: tuple[_Image, ...] = ()
    partial_matching_images: tuple[_Image, ...] = ()


class _Entity(CamelCaseReply):
    entity_id: str = ""
    description: str = ""


class _Label(CamelCaseReply):
    label: str = ""


class _Web(CamelCaseReply):
    web_entities: tuple[_Entity, ...] = ()
    pages_with_matching_images: tuple[_Page, ...] = ()
    visually_similar_images: tuple[_Image, ...] = ()
    best_guess_labels: tuple[_Label, ...] = ()


class _Status(CamelCaseReply):
    code: int = 0
    message: str = ""


class _Answer(CamelCaseReply):
    web_detection: _Web = _Web()
    error: _Status | None = None


class _Answers(CamelCaseReply):
    responses: tuple[_Answer, ...] = ()


class GoogleVision(Service):
    """The `RegionProvider` over web detection."""

    name: Final = "google_vision"

    async def search_picture(self, picture: RegionPicture, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """What it shows (at most 3), pages that have it, then at most 5 pictures like it; `limit` in all."""
        wanted = {
            "image": {"content": base64.b64encode(picture.data).decode()},
            "features": [{"type": "WEB_DETECTION", "maxResults": limit}],
        }
        request = ProviderRequest(f"{self._base}/v1/images:annotate", method="POST", json={"requests": [wanted]})
        reply = await self._client.read(request, context, _Answers, _failure_of)
        web = reply.responses[0].web_detection
        facts = [*_entities(web), *_pages(web), *_similar_pictures(web)]
        return [fact.model_copy(update={"number": i}) for i, fact in enumerate(facts[:limit], 1)]


def judge(reply: HttpReply) -> ProviderFailure | None:
    """A key that is none comes as 400, with its reason in the body.

    Args:
        reply: a whole reply of the service, of any status.

    Returns:
        What went wrong; None for a status below 400, where the body may still have an error of the picture.
    """
    if reply.status == 400 and b"API_KEY_INVALID" in reply.content:
        return ProviderFailure("key", "the service refuses the key")
    return judge_status(reply)


def _failure_of(reply: _Answers) -> ProviderFailure | None:
    """Of the only picture: its own error, which comes with status 200."""
    if not reply.responses:
        return ProviderFailure("passing", "the reply is empty")
    error = reply.responses[0].error
    if error is None or error.code == 0:
        return None
    return ProviderFailure(_FAILURE_KINDS.get(error.code, "passing"), plain_text(error.message, limit=200))


def _entities(web: _Web) -> Iterator[WebFact]:
    """What the pictures on those pages are about, as pages of Google's knowledge graph."""
    guess = ", ".join(label.label for label in web.best_guess_labels if label.label)
    named = [entity for entity in web.web_entities if entity.description and entity.entity_id]
    for entity in named[:_MAX_ENTITIES]:
        yield WebFact(
            number=0,
            title=plain_text(entity.description, limit=200),
            snippet=f"what pages with such pictures are about; best guess: {plain_text(guess, limit=200)}"
            if guess
            else "what pages with such pictures are about",
            url=f"https://www.google.com/search?kgmid={quote(entity.entity_id)}",
            source=_SOURCE_NAME,
        )


def _pages(web: _Web) -> Iterator[WebFact]:
    """A crop's own photo is a partial match (see `partialMatchingImages`), so either kind is this very picture."""
    for page in web.pages_with_matching_images:
        title = plain_text(page.page_title, limit=300)
        yield WebFact(
            number=0,
            title=title or (urlsplit(page.url).hostname or page.url),
            url=page.url,
            source=_SOURCE_NAME,
            same_picture=bool(page.full_matching_images or page.partial_matching_images),
        )


def _similar_pictures(web: _Web) -> Iterator[WebFact]:
    for image in web.visually_similar_images[:_MAX_SIMILAR]:
        host = urlsplit(image.url).hostname or image.url
        yield WebFact(number=0, title=f"a similar picture at {host}", url=image.url, source=_SOURCE_NAME)


PROVIDER: Final = Provider(
    LIMITS,
    "GOOGLE_VISION_API_KEY",
    IN_HEADER,
    judge,
    base_url=BASE_URL,
    regions=GoogleVision,
    title="Google Cloud Vision",
)
