"""Texts that make a regular expression slow if any can: each of its repeats, pumped, after what leads there."""

from __future__ import annotations

import re
import re._constants as op
import re._parser as parser
from collections.abc import Iterator
from typing import Any

_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_MANY = 20  # from so many on, a bounded repeat counts as one without a bound
_OTHERS = 'a9 ,.;"\n-<x\x01'
_CATEGORIES = {
    op.CATEGORY_DIGIT: "9", op.CATEGORY_SPACE: " \n", op.CATEGORY_WORD: "a9",
    op.CATEGORY_NOT_DIGIT: "a ", op.CATEGORY_NOT_SPACE: "a-", op.CATEGORY_NOT_WORD: " -",
}  # fmt: skip


def pumping_texts(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    """Texts of about `length` characters that end in one the pattern does not expect."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    leads = set(_leads(tree, ""))
    samples = {_sample(tree, choice) for choice in range(3)}
    units = {unit for _, unit in leads} | {lead + unit for lead, unit in leads} | samples | {" ", "\n", "9", "a"}
    starts = sorted({lead for lead, _ in leads} | {""}, key=len)[:8]
    for unit in sorted(unit for unit in units if unit):
        for start in starts:
            yield (start + unit * (length // len(unit) + 1))[:length] + "\0"


def _leads(items: parser.SubPattern, before: str) -> Iterator[tuple[str, str]]:
    """Each repeat: a text that leads to it, and one round of it."""
    for kind, value in items:
        if kind in _REPEATS:
            _, most, body = value
            if most is op.MAXREPEAT or most >= _MANY:
                yield from ((before, _sample(body, choice)) for choice in range(6))
                yield from ((before, one) for inner, of in body if inner is op.IN for one in _members(of)[:12])
        for body in _bodies(kind, value):
            yield from _leads(body, before)
        before += _text(kind, value, 0)


def _bodies(kind: int, value: Any) -> list[parser.SubPattern]:
    if kind in _REPEATS:
        return [value[2]]
    if kind is op.SUBPATTERN:
        return [value[-1]]
    if kind is op.BRANCH:
        return value[1]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is op.ATOMIC_GROUP else []


def _sample(items: parser.SubPattern, choice: int) -> str:
    return "".join(_text(kind, value, choice) for kind, value in items)


def _text(kind: int, value: Any, choice: int) -> str:
    """One text that this item matches, or nothing where it may match nothing."""
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if kind is op.ANY:
        return "a"
    if kind is op.IN:
        members = _members(value)
        return members[choice % len(members)]
    if kind in _REPEATS:
        return _sample(value[2], choice) * (value[0] or choice % 2)
    bodies = [] if kind in (op.ASSERT, op.ASSERT_NOT) else _bodies(kind, value)
    return _sample(bodies[choice % len(bodies)], choice) if bodies else ""


def _members(items: list[Any]) -> str:
    named = "".join(
        chr(value) if kind is op.LITERAL else chr(value[0]) if kind is op.RANGE else _CATEGORIES[value]
        for kind, value in items
        if kind is not op.NEGATE
    )
    if (op.NEGATE, None) not in items:
        return named
    kept = re.compile("[" + "".join(re.escape(one) for one in named) + "]")
    return "".join(one for one in _OTHERS if not kept.match(one))
