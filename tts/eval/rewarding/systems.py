"""The reward of one output in each system: a number, or None with what is missing, and the parts it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from tts.dialects.released.released_dialect import call_penalty
from tts.dialects.served.geo_adapt import depth_flag
from tts.domain.value import Value
from tts.eval.answer_parsers import PARSERS
from tts.eval.rewarding.papers import Made, distance_km, geoagent_paper, reverse_paper, thinking_with_map_paper
from tts.eval.rewarding.process_reward import tool_rewards
from tts.eval.rewarding.reward_inputs import PAIR_SEPARATOR, RewardInputs
from tts.eval.rewarding.rewarded_output import RewardedOutput
from tts.rewards.papers import geo_adapt_reward, spotagent_reward
from tts.rewards.released import (
    geoagent_answer,
    geoagent_chain,
    geoagent_reward,
    geovista_reward,
    reverse_reward,
    thinking_with_map_reward,
)
from tts.routing.segmentation import class_weights

System = Literal["thinking_with_map", "reverse", "geoagent", "geovista", "spotagent", "geo_adapt", "georeasoner"]
SYSTEMS: tuple[System, ...] = get_args(System)
Form = Literal["released", "paper"]
FORMS: tuple[Form, ...] = get_args(Form)


class RewardResult(Value):
    """`reward` is None when `missing` names something; `parts` are there all the same."""

    sample: str
    rollout: int
    system: System
    reward: float | None
    parts: dict[str, Any]
    missing: tuple[str, ...] = ()


def compute_reward(
    output: RewardedOutput, system: System, inputs: RewardInputs, form: Form = "released"
) -> RewardResult:
    """The reward of `output` as the authors' code gives it, or as their paper states it where that differs."""
    make = _PAPER_REWARDS.get(system, _RELEASED_REWARDS[system]) if form == "paper" else _RELEASED_REWARDS[system]
    reward, parts, missing = make(output, inputs)
    return RewardResult(
        sample=output.sample,
        rollout=output.rollout,
        system=system,
        reward=None if missing else reward,
        parts=parts,
        missing=tuple(missing),
    )


def _reward_thinking_with_map(output: RewardedOutput, inputs: RewardInputs) -> Made:
    if output.truth is None:
        return 0.0, {}, ["the true position"]
    truth = {"lat": output.truth.lat, "lon": output.truth.lon}
    found = thinking_with_map_reward.score(thinking_with_map_reward.read_answer(output.text), truth)
    penalty = sum((call_penalty(result) for turn in output.turns for result in turn.results), 0.0)
    return found.score, {**found.within, "call_penalty": penalty}, []


def _reward_reverse(output: RewardedOutput, inputs: RewardInputs) -> Made:
    if output.truth is None:
        return 0.0, {}, ["the true position"]
    placed = reverse_reward.place(output.text, f"{output.truth.lat!r}, {output.truth.lon!r}")
    tools = _tool_rewards(output, inputs)
    total = reverse_reward.total(placed, tools)
    parts = {
        "place": placed.place,
        "format": placed.form,
        "tools": total.tools,
        "tool_rewards": list(tools),
        "km": placed.km,
        **placed.within,
        "as_scripted": reverse_reward.total(placed, tools, with_format=False).value,
    }
    return total.value, parts, []


def _tool_rewards(output: RewardedOutput, inputs: RewardInputs) -> Sequence[float]:
    """As a row states them, else from labels; without either nothing was earned."""
    stated = output.given.get("tool_rewards")
    if isinstance(stated, list):
        return [float(value) for value in stated]
    if inputs.labels is None or not output.photos:
        return []
    return tool_rewards(output.turns, inputs.labels, output.photos[0])


def _reward_geoagent(output: RewardedOutput, inputs: RewardInputs) -> Made:
    missing: list[str] = []
    parts: dict[str, Any] = {
        "format": geoagent_reward.format_reward(output.text),
        "geo_format": geoagent_reward.geo_format_reward(output.text),
        "names": _names_reward(output, inputs, missing),
        "consistency": _consistency_reward(output, inputs, missing),
        "spatial": _spatial_reward(output, inputs, missing),
    }
    known = {name: 0.0 if value is None else float(value) for name, value in parts.items()}
    total = geoagent_reward.total_reward(
        form=known["format"],
        geo_form=known["geo_format"],
        names=known["names"],
        consistency=known["consistency"],
        spatial=known["spatial"],
    )
    return total, parts, missing


def _names_reward(output: RewardedOutput, inputs: RewardInputs, missing: list[str]) -> float | None:
    if not output.solution:
        missing.append("the true names")
        return None
    table = inputs.similarities
    if table is None:
        missing.append("--similarities")
        return None
    unknown: list[str] = []

    def similarity(ours: str, true: str) -> float:
        pair = f"{ours}{PAIR_SEPARATOR}{true}"
        if pair not in table:
            unknown.append(pair)
        return table.get(pair, 0.0)

    value = geoagent_reward.names_reward(output.text, output.solution, similarity).value
    missing += [f"the similarity of {pair}" for pair in unknown]
    return None if unknown else value


def _spatial_reward(output: RewardedOutput, inputs: RewardInputs, missing: list[str]) -> float | None:
    answer = geoagent_answer.answer_for_geocoding(output.text)
    if not answer:
        return 0.0
    if answer not in inputs.geocoded:
        missing.append(f"the position of {answer!r} (--geocoded)")
        return None
    points = (inputs.geocoded[answer], inputs.geocoded.get(output.solution, output.truth))
    guess, true = (None if point is None else (point.lat, point.lon) for point in points)
    return geoagent_reward.spatial_reward_between(guess, true)


def _consistency_reward(output: RewardedOutput, inputs: RewardInputs, missing: list[str]) -> float | None:
    stages = geoagent_chain.read_chain(output.text)
    if stages is None:
        return 0.0
    reread = inputs.conclusions.get((output.sample, output.rollout))
    if reread is None:
        missing.append("the second reader's conclusions (--conclusions)")
        return None
    return geoagent_chain.reward_of(stages, reread)


def _reward_geovista(output: RewardedOutput, inputs: RewardInputs) -> Made:
    if not output.names:
        return 0.0, {}, ["the true names"]
    levels = geovista_reward.names_by_rule(output.text.split("assistant")[-1].strip(), output.names)
    parts: dict[str, Any] = levels._asdict()
    if isinstance(judgement := output.given.get("judge_says"), Mapping):
        parts["judged"] = geovista_reward.names_by_judge(judgement)._asdict()
    found = inputs.geocoded.get(geovista_reward.place_of(output.text))
    if found is not None and output.truth is not None:
        parts["km"] = geovista_reward.distance_km(found.model_dump(), output.truth.model_dump())
    return geovista_reward.training_reward(levels), parts, []


def _reward_spotagent(output: RewardedOutput, inputs: RewardInputs) -> Made:
    away_km, missing = distance_km(output, "spotagent")
    results = [result.ok for turn in output.turns for result in turn.results]
    kept = spotagent_reward.keep_trajectory(away_km, all_calls_valid=all(results))
    return spotagent_reward.distance_reward(away_km), {"km": away_km, "worth_training_on": kept}, missing


def _reward_geo_adapt(output: RewardedOutput, inputs: RewardInputs) -> Made:
    away_km, missing = distance_km(output, "geo_adapt")
    if "country" not in output.names:
        missing.append("the true country")
    guess = PARSERS["geo_adapt"](output.text)
    names = "" if guess is None else f"{guess.country}; {guess.city}"
    levels = geovista_reward.names_by_rule(names, output.names)
    reward = geo_adapt_reward.place_reward(country_right=levels.country, city_right=levels.city, distance_km=away_km)
    return (
        reward,
        {"km": away_km, "country": levels.country, "city": levels.city, **_reasoning_rewards(output)},
        missing,
    )


def _reasoning_rewards(output: RewardedOutput) -> dict[str, float | None]:
    """Geo-ADAPT's reward of the reasoning, from fields of the row; None for what they do not give."""
    given = output.given
    reason_km, retrieval_km, chose = given.get("reason_km"), given.get("retrieval_km"), depth_flag(output.text)
    depth = grounding = None
    if chose is not None and isinstance(reason_km, int | float) and isinstance(retrieval_km, int | float):
        label = geo_adapt_reward.needs_depth(reason_km, retrieval_km)
        depth = geo_adapt_reward.depth_reward(chose_deep=chose == "deep", label_deep=label)
    entities, reference = given.get("entities"), given.get("reference")
    if isinstance(entities, Mapping) and isinstance(reference, Sequence) and not isinstance(reference, str):
        confidences = [float(confidence) for confidence in entities.values()]
        grounding = geo_adapt_reward.grounding_reward(confidences, list(entities), list(reference))
    both = None if depth is None or grounding is None else geo_adapt_reward.reasoning_reward(depth, grounding)
    return {"depth": depth, "grounding": grounding, "reasoning": both}


def _reward_georeasoner(output: RewardedOutput, inputs: RewardInputs) -> Made:
    shares = output.given.get("shares")
    if not isinstance(shares, Mapping):
        return 0.0, {}, ["`shares`: the area of each ADE20K class, by its number from 0"]
    names, weights = class_weights()
    areas = {int(number): float(share) for number, share in shares.items()}
    weighed = {number: float(weights[number]) for number in areas}
    parts = {names[number]: area * weighed[number] for number, area in areas.items()}
    return geo_adapt_reward.visual_locatability(list(areas.values()), list(weighed.values())), parts, []


_RELEASED_REWARDS: Mapping[System, Callable[[RewardedOutput, RewardInputs], Made]] = {
    "thinking_with_map": _reward_thinking_with_map,
    "reverse": _reward_reverse,
    "geoagent": _reward_geoagent,
    "geovista": _reward_geovista,
    "spotagent": _reward_spotagent,
    "geo_adapt": _reward_geo_adapt,
    "georeasoner": _reward_georeasoner,
}
_PAPER_REWARDS: Mapping[System, Callable[[RewardedOutput, RewardInputs], Made]] = {
    "thinking_with_map": thinking_with_map_paper,
    "reverse": reverse_paper,
    "geoagent": geoagent_paper,
}
"""Where code and paper differ. Of SpotAgent and Geo-ADAPT there is no code, of the others no other reward."""
