"""Distinguishes a model that says in prose that it does not know from a model whose turns cannot be used.

Asked twice to write its answer in the form of its dialect, a model that still declines has answered: it is the finding
of an abstention. Dialects and corrections are in English, and so is what is looked for.
"""

from __future__ import annotations

import re

_ABSTENTION = re.compile(
    r"\b(?:do not|don['’]t|can ?not|can['’]t|could not|couldn['’]t|unable to|not able to|not possible to|impossible to)"
    r"\b[^.!?\n]{0,40}\b(?:know|tell|determined?|identify|identified|say|located?|pinpoint(?:ed)?|placed?)\b"
    r"|\b(?:no idea|location is (?:unknown|not known))\b"
    r"|(?:\bnot enough|n['’]t enough|\binsufficient)(?: visual| contextual)? (?:information|evidence|clues|context)\b",
    re.IGNORECASE,
)


def is_abstention(text: str) -> bool:
    """Whether the text says that the place is not known."""
    return _ABSTENTION.search(text) is not None
