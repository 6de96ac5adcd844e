"""Names of the conversations of a request: `REQUEST/ROLLOUT`, and `REQUEST/ROLLOUT/drawN` for answer draw N.

Each draw has a name of its own, so that an engine does not take it for the next turn of the rollout.
"""

from __future__ import annotations

import re
from typing import Final

_DRAW: Final = re.compile(r"/draw\d+$")


def session_of_draw(session_id: str, number: int) -> str:
    """The name of draw `number` (from 0) of the conversation `session_id`."""
    return f"{session_id}/draw{number}"


def session_of_rollout(session_id: str) -> str:
    """The conversation that a draw continues; any other name as it is."""
    return _DRAW.sub("", session_id)
