"""Texts that make a regular expression slow if any can: each of its repeats, pumped, after what leads there."""

from __future__ import annotations

import re
import re._constants as op
import re._parser as parser
from collections.abc import Iterator
from typing import Any

_REPEAT_KINDS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_UNBOUNDED_FROM = 20  # from so many on, a bounded repeat counts as one without a bound
_OTHER_CHARS = 'a9 ,.;"\n-<x\x01'
_CHARS_BY_CATEGORY = {
    op.CATEGORY_DIGIT: "9", op.CATEGORY_SPACE: " \n", op.CATEGORY_WORD: "a9",
    op.CATEGORY_NOT_DIGIT: "a ", op.CATEGORY_NOT_SPACE: "a-", op.CATEGORY_NOT_WORD: " -",
}  # fmt: skip


def pumping_texts(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    """Texts of about `length` characters that end in one the pattern does not expect."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    leads = set(_find_repeats(tree, ""))
    samples = {_sample_text(tree, choice) for choice in range(3)}
    units = {unit for _, unit in leads} | {lead + unit for lead, unit in leads} | samples | {" ", "\n", "9", "a"}
    starts = sorted({lead for lead, _ in leads} | {""}, key=len)[:8]
    for unit in sorted(unit for unit in units if unit):
        for start in starts:
            yield (start + unit * (length // len(unit) + 1))[:length] + "\0"


def _find_repeats(items: parser.SubPattern, before: str) -> Iterator[tuple[str, str]]:
    """Each repeat: a text that leads to it, and one round of it."""
    for kind, value in items:
        if kind in _REPEAT_KINDS:
            _, most, body = value
            if most is op.MAXREPEAT or most >= _UNBOUNDED_FROM:
                yield from ((before, _sample_text(body, choice)) for choice in range(6))
                yield from ((before, one) for inner, of in body if inner is op.IN for one in _class_members(of)[:12])
        for body in _inner_patterns(kind, value):
            yield from _find_repeats(body, before)
        before += _item_text(kind, value, 0)


def _inner_patterns(kind: int, value: Any) -> list[parser.SubPattern]:
    if kind in _REPEAT_KINDS:
        return [value[2]]
    if kind is op.SUBPATTERN:
        return [value[-1]]
    if kind is op.BRANCH:
        return value[1]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is op.ATOMIC_GROUP else []


def _sample_text(items: parser.SubPattern, choice: int) -> str:
    return "".join(_item_text(kind, value, choice) for kind, value in items)


def _item_text(kind: int, value: Any, choice: int) -> str:
    """One text that this item matches, or nothing where it may match nothing."""
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if kind is op.ANY:
        return "a"
    if kind is op.IN:
        members = _class_members(value)
        return members[choice % len(members)]
    if kind in _REPEAT_KINDS:
        return _sample_text(value[2], choice) * (value[0] or choice % 2)
    bodies = [] if kind in (op.ASSERT, op.ASSERT_NOT) else _inner_patterns(kind, value)
    return _sample_text(bodies[choice % len(bodies)], choice) if bodies else ""


def _class_members(items: list[Any]) -> str:
    named = "".join(
        chr(value) if kind is op.LITERAL else chr(value[0]) if kind is op.RANGE else _CHARS_BY_CATEGORY[value]
        for kind, value in items
        if kind is not op.NEGATE
    )
    if (op.NEGATE, None) not in items:
        return named
    kept = re.compile("[" + "".join(re.escape(one) for one in named) + "]")
    return "".join(one for one in _OTHER_CHARS if not kept.match(one))
