"""Look closer at a region of a photo."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationError, model_validator

from tts.domain.photo import Box
from tts.domain.tooling import ImageRef, ViewFact
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import Arguments, FunctionTool, Observation, Tool, ToolSpec

_MIN_SIDE_PX = 16


class BoxArguments(Arguments):
    """A region in fractions of the photo's sides."""

    bbox: Annotated[
        tuple[float, float, float, float],
        Field(description="region to look at: [left, top, right, bottom] as fractions of the photo, 0 to 1"),
    ]
    photo: Annotated[int, Field(ge=0, le=7, description="which photo, counted from 0")] = 0

    @model_validator(mode="after")
    def _check_bbox(self) -> BoxArguments:
        left, top, right, bottom = self.bbox
        if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
            raise ValueError(
                "bbox must be [left, top, right, bottom] with 0 <= left < right <= 1, 0 <= top < bottom <= 1"
            )
        return self

    def box(self, context: ToolContext) -> Box:
        """Check the region, and find its photo.

        Args:
            context: that of the call; its photos are counted from 0.

        Returns:
            The region as a box of a photo of the call, in fractions of its sides.

        Raises:
            ToolError: INVALID_ARGUMENTS: there is no such photo, or the region is below 16 pixels on a side.
        """
        if self.photo >= len(context.photos):
            raise ToolError(f"there are only {len(context.photos)} photos", kind=ToolErrorKind.INVALID_ARGUMENTS)
        photo = context.photos[self.photo]
        try:
            box = Box(x0=self.bbox[0], y0=self.bbox[1], x1=self.bbox[2], y1=self.bbox[3], photo=self.photo)
        except ValidationError as error:
            raise ToolError("bbox is empty", kind=ToolErrorKind.INVALID_ARGUMENTS) from error
        left, top, right, bottom = box.pixels(photo.width, photo.height)
        if min(right - left, bottom - top) < _MIN_SIDE_PX:
            raise ToolError(
                f"bbox covers {right - left}x{bottom - top} pixels; take at least {_MIN_SIDE_PX} each way",
                kind=ToolErrorKind.INVALID_ARGUMENTS,
            )
        return box


async def _zoom_in(arguments: BoxArguments, context: ToolContext) -> Observation:
    box = arguments.box(context)
    photo = context.photos[box.photo]
    left, top, right, bottom = box.pixels(photo.width, photo.height)
    image = ImageRef(sha256=photo.sha256, width=right - left, height=bottom - top, box=box)
    return Observation(
        text=f"The region, {image.width}x{image.height} pixels of the photo.",
        facts=(ViewFact(image=image, source="photo"),),
        images=(image,),
    )


def zoom_tool() -> Tool:
    """Make `image_zoom`.

    Returns:
        The tool. It makes no file: the result refers to the photo with a box.
    """
    spec = ToolSpec(
        name="image_zoom",
        description="Look closer at a region of the photo; returns the region at full resolution.",
        local=True,
        provider="photo",
    )
    return FunctionTool(spec, BoxArguments, _zoom_in)
