"""The name of the model that a rollout uses, where several models share the rollouts of a request."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Source = Annotated[
    str,
    Field(
        description="the model of the rollout, by its name in `engines`; absent if one model serves all",
        exclude_if=lambda source: not source,
    ),
]
