"""Map pictures around a point, from any provider."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from pydantic import Field

from tools.places import PointArguments
from tools.tool_provider import ToolProvider
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import ImageRef, ViewFact
from tts.ports.toolbox import Attachment, ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec

Style = Literal["map", "satellite"]


@dataclass(frozen=True, slots=True)
class MapPicture:
    """An encoded picture and what it shows.

    Attributes:
        data: the bytes of the file.
        media_type: its format, such as `image/png`.
        width: pixels.
        height: pixels.
        zoom: the zoom that it really has, which may differ from the one that was asked for.
        note: its true resolution and its sources, for the model.
    """

    data: bytes
    media_type: str
    width: int
    height: int
    zoom: float
    note: str


class MapsProvider(ToolProvider, Protocol):
    """Where map pictures come from."""

    @property
    def styles(self) -> frozenset[Style]:
        """Styles it can show; a style that is not among them gets no tool."""
        ...

    async def picture(
        self, point: LatLon, *, style: Style, zoom: float, width: int, height: int, context: RequestContext
    ) -> MapPicture:
        """Draw a map or a satellite picture with a point in its middle, marked there.

        Args:
            point: in WGS-84, whatever datum the service uses.
            style: one of `styles`.
            zoom: of Web Mercator: 0 is the world in 256 pixels, and each step doubles the scale. It is brought into the
                range that the provider has.
            width: pixels that are wanted; a provider may have a smaller maximum.
            height: as `width`.
            context: the request: it bounds how long a call waits for its turn, and what is sent is listed under its id.

        Returns:
            The picture, with the size and the zoom that it really has.

        Raises:
            ToolError: there is no picture of the point (NOT_FOUND), or the provider fails.
        """
        ...


class MapArguments(PointArguments):
    """The arguments of both map tools: the point in the middle, and the zoom."""

    zoom: Annotated[float, Field(ge=1, le=20, description="2 shows a continent, 6 a region, 12 a town")] = 8.0


_SIDE_PX = 500
MAP_TOOLS = ("static_map", "satellite_map")


def maps_tools(provider: MapsProvider) -> list[Tool]:
    """Make `static_map` and `satellite_map`: 500x500 pixels, the point in the middle.

    Args:
        provider: where the pictures come from; a style that is not among its `styles` gets no tool.

    Returns:
        One tool for each style that the provider has.
    """

    def tool(name: str, style: Style, description: str) -> Tool:
        async def show(arguments: MapArguments, context: ToolContext) -> Observation:
            point = arguments.point()
            picture = await provider.picture(
                point,
                style=style,
                zoom=arguments.zoom,
                width=_SIDE_PX,
                height=_SIDE_PX,
                context=context.request,
            )
            sha256 = hashlib.sha256(picture.data).hexdigest()
            label = f"{style} around {point}, zoom {picture.zoom:g}"
            image = ImageRef(
                sha256=sha256, width=picture.width, height=picture.height, media_type=picture.media_type, label=label
            )
            return Observation(
                text=f"A {label}. {picture.note}",
                facts=(ViewFact(image=image, point=point, zoom=picture.zoom, source=provider.name),),
                images=(image,),
                attachments=(Attachment(sha256=sha256, media_type=picture.media_type, data=picture.data),),
            )

        spec = ToolSpec(name, description, provider=provider.name, needs_network=provider.needs_network)
        return FunctionTool(spec, MapArguments, show)

    tools = []
    if "map" in provider.styles:
        tools.append(tool("static_map", "map", "A map around a point: towns, borders, rivers, roads where known."))
    if "satellite" in provider.styles:
        tools.append(tool("satellite_map", "satellite", "The land around a point as seen from above."))
    return tools
