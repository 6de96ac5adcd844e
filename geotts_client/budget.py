"""The budget of a request. The service derives the number of rollouts from it."""

from __future__ import annotations

import json
import re
from typing import Annotated

from pydantic import Field, model_validator

from geotts_client.value import Value

_BUDGET_PART = re.compile(
    r"(\d{1,12}(?:\.\d{1,12})?) ?(k|m)?[ -]{0,3}(s|sec|seconds|min|minutes|tokens?|usd|\$)", re.IGNORECASE
)
_MULTIPLIERS = {"": 1, "k": 1_000, "m": 1_000_000}
EITHER_BUDGET = "decides n_parallel and depth: give either a budget or these"
HOW_TO_WRITE = "write 30s, 2min, 20k-tokens or 0.05usd, or several with commas"


class Budget(Value):
    """At least one of three limits. The rollouts never write more than `tokens`. `seconds` is the deadline of the
    answer. `money_usd` is enforced only for a model that has a price."""

    tokens: Annotated[int, Field(ge=16, le=100_000_000)] | None = Field(
        default=None, description="tokens that all rollouts together may write"
    )
    seconds: Annotated[float, Field(ge=0.1, le=3600, allow_inf_nan=False)] | None = Field(
        default=None, description="seconds until the answer"
    )
    money_usd: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] | None = Field(
        default=None, description="US dollars that the models may cost, by the operator's price table"
    )

    @model_validator(mode="after")
    def _check_has_limit(self) -> Budget:
        if self.tokens is None and self.seconds is None and self.money_usd is None:
            raise ValueError("a budget needs tokens, seconds or money_usd")
        return self

    def __str__(self) -> str:
        parts = []
        if self.tokens is not None:
            parts.append(f"{self.tokens:,} tokens")
        if self.seconds is not None:
            parts.append(f"{self.seconds:g} s")
        if self.money_usd is not None:
            parts.append(f"{self.money_usd:g} USD")
        return " and ".join(parts)


class BudgetUse(Value):
    """A budget, and what the request used of it."""

    budget: Budget = Field(description="the budget of the request")
    tokens: int | None = Field(
        default=None, description="tokens that the rollouts wrote; null if the budget does not limit them"
    )
    seconds: float | None = Field(
        default=None, description="seconds until the answer; null if the budget does not limit them"
    )
    money_usd: float | None = Field(
        default=None, description="cost of all models in US dollars; null if the budget does not limit it"
    )

    def __str__(self) -> str:
        used = [f"{self.tokens:,} tokens"] if self.tokens is not None else []
        used += [f"{self.seconds:.1f} s"] if self.seconds is not None else []
        used += [f"{self.money_usd:.4f} USD"] if self.money_usd is not None else []
        return f"{' and '.join(used)} of {self.budget}"


def budget_of(text: str) -> Budget:
    """Parse a budget: `30s`, `20k-tokens`, `0.05usd`, several with commas (`30s,0.05usd`), or the object as JSON.

    Args:
        text: a part is a number, `k` or `m` if wanted, and a unit, in either case. Each of the three limits may occur
            once.

    Returns:
        The limits that the text states; those that it does not state are None.

    Raises:
        ValueError: the text is not a budget, and the message has the accepted forms; or a limit is out of range.
    """
    return Budget.model_validate(_parse_budget(text))


def budget_given(given: object) -> object:
    """Parse a budget that is text; return any other value unchanged.

    Args:
        given: the value of the field `budget`: text as in `budget_of`, a `Budget`, an object or None.

    Returns:
        For text, the fields of a `Budget`; pydantic checks them.

    Raises:
        ValueError: the text is not a budget; the message has the accepted forms.
    """
    return _parse_budget(given) if isinstance(given, str) else given


def _parse_budget(text: str) -> object:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:  # no JSON, or nested too deeply
            raise ValueError(f"this is not a budget: {HOW_TO_WRITE}") from error
    given: dict[str, float] = {}
    for part in text.split(","):
        found = _BUDGET_PART.fullmatch(" ".join(part.split()))
        if found is None:
            raise ValueError(f"{part.strip()[:40]!r} is not a budget: {HOW_TO_WRITE}")
        name, amount = _field_and_value(float(found[1]), (found[2] or "").lower(), found[3].lower())
        if name in given:
            raise ValueError(f"{name} is given twice: {HOW_TO_WRITE}")
        given[name] = amount
    return given


def _field_and_value(number: float, times: str, unit: str) -> tuple[str, float]:
    amount = number * _MULTIPLIERS[times]
    if unit.startswith("token"):
        return "tokens", int(amount)
    if unit in ("usd", "$"):
        return "money_usd", amount
    return "seconds", amount * (60.0 if unit.startswith("min") else 1.0)
