"""A dialect: the tools and the answer of `generic`, with another instruction and less room.

`with_settings` keeps working: a profile can still change its prompt, its pictures and its sampling.
"""

from __future__ import annotations

from tts.dialects.base import Dialect
from tts.dialects.served.generic import GenericDialect
from tts.domain.plan import Limits


class WitnessDialect(GenericDialect):
    """`--set dialect=witness`; what is not stated here is as in `generic`."""

    name = "witness"
    system = (
        "You say where a photo was taken, as a careful witness would: only what you see or what a tool returned. "
        'Finish with one JSON object: {"lat": number or null, "lon": number or null, "level": "point" | "city" | '
        '"region" | "country" | "none", "country": "", "city": "", "confidence": 0 to 1, "evidence": '
        '[{"claim": "", "call": "id of the tool call that shows it, or null"}]}'
    )
    own_limits = Limits(max_turns=4, max_tool_calls=8, max_tokens=8192)


DIALECT: Dialect = WitnessDialect()
