"""All families, and `generate`. The verifier was built with `DEVELOPMENT` in view, never with `HELD_OUT`."""

from __future__ import annotations

import random
from functools import lru_cache

from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.branches import wrong_branch
from tts.eval.synthetic.cast import Cast, Family
from tts.eval.synthetic.contradictions import contradiction
from tts.eval.synthetic.copied_pages import mirrored_page
from tts.eval.synthetic.grounded_minorities import (
    copied_witness,
    echo_chamber,
    grounded_minority,
    half_right,
    phantom_tool_use,
)
from tts.eval.synthetic.injections import injection
from tts.eval.synthetic.last_turn import last_turn
from tts.eval.synthetic.left_behind_places import left_behind
from tts.eval.synthetic.namesakes import namesakes
from tts.eval.synthetic.rollout_events import reading_of
from tts.eval.synthetic.scenario import Scenario
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer

DEVELOPMENT: dict[str, Family] = {
    "grounded_minority": grounded_minority,
    "echo_chamber": echo_chamber,
    "phantom_looks": phantom_tool_use,
    "copied_witness": copied_witness,
    "half_right": half_right,
    "wrong_phone": contradiction("phone"),
    "wrong_postcode": contradiction("postcode"),
    "wrong_script": contradiction("script"),
    "wrong_domain": contradiction("domain"),
    "wrong_language": contradiction("language"),
    "point_at_sea": contradiction("sea"),
    "country_not_at_point": contradiction("country"),
    "injected_page": injection("page"),
    "injected_place": injection("place"),
    "injected_sign": injection("sign"),
    "wrong_branch": wrong_branch,  # these two were held out until the verifier had learned from them
    "mirrored_page": mirrored_page,
}
_EASY_ONE_IN = 4


def generate(family: str, count: int, seed: int, gazetteer: Gazetteer, countries: Countries) -> list[Scenario]:
    """Scenarios of a family. Number k is the same for every `count`; one in four is easy.

    Raises:
        KeyError: when there is no such family.
    """
    make = {**FAMILIES, **LOST}[family]
    atlas = _atlas(gazetteer, countries)
    return [_cast_scenario(make, family, f"{seed}/{family}/{number}", atlas) for number in range(count)]


@lru_cache(maxsize=2)
def _atlas(gazetteer: Gazetteer, countries: Countries) -> Atlas:
    return Atlas(gazetteer, countries)


def _cast_scenario(make: Family, family: str, key: str, atlas: Atlas) -> Scenario:
    rng = random.Random(key)
    cast = make(atlas, rng, easy=rng.randrange(_EASY_ONE_IN) == 0)
    order = rng.sample(range(len(cast.rollouts)), len(cast.rollouts))
    clean = _make_scenario(cast, family, key, order, attacked=False) if cast.clean else None
    return _make_scenario(cast, family, key, order, attacked=True, clean=clean)


def _make_scenario(
    cast: Cast, family: str, key: str, order: list[int], *, attacked: bool, clean: Scenario | None = None
) -> Scenario:
    rollouts, lines = (cast.rollouts, cast.lines) if attacked else (cast.clean, cast.clean_lines)
    numbered = tuple(rollouts[k].model_copy(update={"rollout_id": i}) for i, k in enumerate(order))
    extra_rollout = (
        None if cast.extra_rollout is None else cast.extra_rollout.model_copy(update={"rollout_id": len(order)})
    )
    return Scenario(
        key,
        family,
        cast.kind,
        cast.truth,
        numbered,
        reading_of(lines),
        clean,
        unasked=tuple(cast.unasked),
        extra_rollout=extra_rollout,
    )


HELD_OUT: dict[str, Family] = {
    "namesakes": namesakes,
    "last_turn": last_turn,
}
FAMILIES: dict[str, Family] = {**DEVELOPMENT, **HELD_OUT}
LOST: dict[str, Family] = {"left_behind": left_behind}  # nobody answers the truth: only questions can recover it
