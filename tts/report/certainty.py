"""Whether a percentage says more than the two radii of an answer, for texts that people read.

Such a text says that the true place is "probably" within the 50 % radius and "very probably" within the 90 % radius. A
third statement about the target radius is a repetition unless the target is smaller than both.
"""

from __future__ import annotations

from tts.domain.answer import Radius


def percentage_adds(radius: Radius, target_km: float) -> bool:
    """Whether the confidence, which is for the target radius in km, is not known from the radii already.

    The confidence is at least 50 % if the target is at least the 50 % radius, and at least 90 % if it is at least the
    90 % radius (`tts/verify/assembly/radius_consistency.py`).
    """
    return target_km < radius.p50
