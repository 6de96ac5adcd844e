"""The shipped price table: list prices of hosted models, with the date they are from."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml

from tts.domain.token_price import Price
from tts.domain.value import Value

_VERSION_SUFFIX = re.compile(r"(-\d{4}-\d{2}-\d{2}|-\d{8}|-latest|:[a-z]+)$")


class PriceTable(Value):
    """Prices by the name of the model; `as_of` is the month they were taken."""

    prices_version: Literal[1] = 1
    as_of: str
    models: dict[str, Price]

    def price_of(self, model: str) -> Price | None:
        """The price of a model under any of its usual names; None when it is not listed."""
        name = model.rpartition("/")[2].lower()
        while name not in self.models:
            shorter = _VERSION_SUFFIX.sub("", name)
            if shorter == name:
                return None
            name = shorter
        return self.models[name]


@cache
def shipped_prices() -> PriceTable:
    """The table of this release."""
    return PriceTable.model_validate(yaml.safe_load((files("tts") / "data" / "prices.yaml").read_text()))
