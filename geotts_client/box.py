"""A part of a photo."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, model_validator

from geotts_client.value import Value


class Box(Value):
    """A rectangle of a photo in fractions of its sides, origin at the top left; `photo` counts from 0."""

    x0: Annotated[float, Field(ge=0, le=1)] = Field(description="left edge, as a fraction of the width")
    y0: Annotated[float, Field(ge=0, le=1)] = Field(description="upper edge, as a fraction of the height")
    x1: Annotated[float, Field(ge=0, le=1)] = Field(
        description="right edge, as a fraction of the width; larger than `x0`"
    )
    y1: Annotated[float, Field(ge=0, le=1)] = Field(
        description="lower edge, as a fraction of the height; larger than `y0`"
    )
    photo: Annotated[int, Field(ge=0, le=7)] = Field(
        default=0, description="which photo of the request, counted from 0"
    )

    @model_validator(mode="after")
    def _check_extent(self) -> Box:
        if self.x0 >= self.x1 or self.y0 >= self.y1:
            raise ValueError("a box needs x0 < x1 and y0 < y1")
        return self

    def pixels(self, width: int, height: int) -> tuple[int, int, int, int]:
        """The rectangle in pixels of a picture.

        Args:
            width: width of the picture in pixels, at least 1.
            height: height of the picture in pixels, at least 1.

        Returns:
            (left, top, right, bottom) in whole pixels, at least one pixel each way.
        """
        left, top = int(self.x0 * width), int(self.y0 * height)
        right, bottom = math.ceil(self.x1 * width), math.ceil(self.y1 * height)
        return left, top, min(width, max(right, left + 1)), min(height, max(bottom, top + 1))

    def of_photo(self, number: int) -> Box:
        """Move the rectangle to another photo.

        Args:
            number: the position of the photo in the request, from 0 to 7; it is not checked.

        Returns:
            The same rectangle with this `photo`.
        """
        return self.model_copy(update={"photo": number})

    @property
    def area(self) -> float:
        """Its share of the photo, in (0, 1]."""
        return (self.x1 - self.x0) * (self.y1 - self.y0)

    def iou(self, other: Box) -> float:
        """Compute the intersection over union with another rectangle.

        Args:
            other: a rectangle of the same photo or of another one.

        Returns:
            A number in [0, 1]: 1 for equal rectangles; 0 if they do not overlap, or are of different photos.
        """
        if self.photo != other.photo:
            return 0.0
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        if width <= 0 or height <= 0:
            return 0.0
        shared = width * height
        return shared / (self.area + other.area - shared)
