"""Region search at live services. Tools send parts of a photo to other machines only through this module.

In this order: the request has consented, the region is cut and hidden parts are blurred, it is encoded anew, a provider
is sent it. What fails on the way there ends the call before anything has left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from PIL import Image

from tools.failover import first_that_serves
from tools.region_search.picture import RegionPicture, cut_region, encode_picture
from tts.domain.photo import Box
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.execute import no_consent

Hide = Callable[[Image.Image], Image.Image]


class RegionProvider(Protocol):
    """A service that finds pages by picture: title, snippet and url, best first. `number` is set by the tool."""

    @property
    def name(self) -> str:
        """The provider's name, part of that of the tool's provider."""
        ...

    async def search_picture(self, picture: RegionPicture, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Find pages with pictures that look like a region.

        Args:
            picture: the region as it may leave this machine: cut, scaled and without metadata.
            limit: most pages, 1 or more.
            context: the request for which it is asked.

        Returns:
            The best first; empty when nothing is found.

        Raises:
            ToolError: the provider fails, or the picture cannot be given a URL.
        """
        ...


class RegionSearch:
    """Regions of photos at one provider, or at the next when one cannot serve.

    Args:
        providers: the services, in the order of preference; 1 or more.
        max_side_px: longest side of a picture that is sent, in pixels.
        hide: applied to every picture before it is sent; None to send it as it is.
    """

    needs_network = True

    def __init__(self, providers: Sequence[RegionProvider], *, max_side_px: int, hide: Hide | None = None) -> None:
        self._providers = tuple(providers)
        self._max_side_px = max_side_px
        self._blur = hide
        self.name = "+".join(provider.name for provider in providers)

    async def search(self, context: ToolContext, box: Box, *, limit: int) -> Sequence[WebFact]:
        """Cut a region out of a photo and search for it.

        Args:
            context: the photos of the call, and whether the request consents.
            box: the region, in fractions of the sides of the photo that it names.
            limit: most pages, 1 or more.

        Returns:
            The best first; empty when nothing is found.

        Raises:
            ToolError: the request does not consent (NOT_ALLOWED), the pixels of the photo are not here, the region is
                too small, or no provider can serve.
        """
        if not context.options.allow_region_search:
            raise no_consent("image_search")
        if box.photo >= len(context.photos):
            raise ToolError(
                "the pixels of this photo are not at hand: search another one", kind=ToolErrorKind.UNAVAILABLE
            )
        picture = await asyncio.to_thread(self._cut_picture, context, box)
        return await first_that_serves(
            self._providers,
            lambda provider: provider.search_picture(picture, limit=limit, context=context.request),
        )

    def _cut_picture(self, context: ToolContext, box: Box) -> RegionPicture:
        pixels = cut_region(context.photos[box.photo], box, max_side_px=self._max_side_px)
        return encode_picture(pixels if self._blur is None else self._blur(pixels))
