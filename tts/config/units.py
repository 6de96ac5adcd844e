"""Numbers that several nodes of the configuration share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Seconds = Annotated[float, Field(gt=0, le=86400)]
