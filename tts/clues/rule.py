"""Rules against lettering that misleads. `geotts bench ablation` leaves each out, to say what it changes."""

from __future__ import annotations

from enum import StrEnum


class Rule(StrEnum):
    """A kind of lettering that points to a wrong place, and is therefore believed less.

    `STREET`: the name of a town is that of a street. `FOOD_NAME`: a place is named on a shop or beside food.
    `VISITORS`: English is written for visitors. `DECORATION`: food or drink is written in its own language.
    """

    STREET = "street"
    FOOD_NAME = "food_name"
    VISITORS = "visitors"
    DECORATION = "decoration"


RULES = frozenset(Rule)
"""All of them."""
