"""Defaults of an installation for the fields that a request leaves out. They replace the defaults of the API."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tts.domain.request import MAX_PARALLEL, LocateOptions
from tts.domain.value import Value


class RequestDefaults(Value):
    """A field that is None here keeps the default of the API."""

    n_parallel: Annotated[int, Field(ge=1, le=MAX_PARALLEL)] | None = Field(
        default=None, description="rollouts in parallel: an upper limit with depth auto, else the exact number"
    )
    tools: tuple[str, ...] | None = Field(
        default=None, description="names of the tools that rollouts may call; a short list suits a small model"
    )
    max_cost_usd: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="most US dollars that the models of a request may cost"
    )

    def fill(self, options: LocateOptions) -> LocateOptions:
        """Apply these defaults to a request.

        Args:
            options: what the caller asked for. A field that the caller set is kept, also if its value is the default of
                the API.

        Returns:
            The options with a default for each field that the caller did not set; `options` itself if there is none.
        """
        mine = {name: value for name, value in self if value is not None and name not in options.model_fields_set}
        return options.model_copy(update=mine) if mine else options
