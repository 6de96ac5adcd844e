"""Rewards as the papers state them, for the systems whose code does something else.

Where the papers leave a figure open, ours is beside it in `tts/rewards/papers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from tts.errors import DataError, ToolErrorKind
from tts.eval.answer_parsers import PARSERS, ParserName
from tts.eval.rewarding.process_reward import calls_with_results, judged_marks, searched_box
from tts.eval.rewarding.reward_inputs import PAIR_SEPARATOR, RewardInputs
from tts.eval.rewarding.rewarded_output import RewardedOutput
from tts.geodata.same_place import same_place
from tts.rewards.papers import geoagent_reward, reverse_reward, thinking_with_map_reward
from tts.rewards.released import geoagent_answer, geoagent_chain
from tts.rewards.released import reverse_reward as released_reverse
from tts.rewards.released.distances import geodesic_km
from tts.toolkit.reverse_cache.lookup import picture_call

Made = tuple[float, dict[str, Any], list[str]]
_FORMAT_BY_REWARD: Mapping[float, reverse_reward.Format] = {1.0: "strict", 0.8: "loose"}


def thinking_with_map_paper(output: RewardedOutput, inputs: RewardInputs) -> Made:
    """The staircase over the distance, 0 to 1 (`tts.rewards.papers.thinking_with_map_reward`)."""
    away_km, missing = distance_km(output, "paper")
    return thinking_with_map_reward.distance_reward(away_km), {"km": away_km}, missing


def reverse_paper(output: RewardedOutput, inputs: RewardInputs) -> Made:
    """The tool part is that of the row (`tool_use`), else counted in the turns with the labels."""
    away_km, missing = distance_km(output, "reverse")
    form = _FORMAT_BY_REWARD.get(released_reverse.format_reward(output.text), "broken")
    use = _tool_use(output, inputs)
    parts = {
        "place": reverse_reward.place_reward(away_km),
        "format": reverse_reward.format_reward(form),
        "tools": reverse_reward.tool_reward(use),
        "tool_use": use.model_dump(mode="json"),
        "km": away_km,
    }
    return reverse_reward.total_reward(away_km, form, use), parts, missing


def geoagent_paper(output: RewardedOutput, inputs: RewardInputs) -> Made:
    """The total of `papers/geoagent_reward.py`, 0 to 3. A part that is missing counts 0 and is named."""
    missing: list[str] = []
    stages = geoagent_chain.read_chain(output.text)
    similarity = _level_similarities(output, inputs, missing)
    agreement = _level_agreements(output, inputs, missing)
    words = (
        0 if stages is None else sum(len(str(stages[stage]["Reasoning"]).split()) for stage in geoagent_chain.STAGES)
    )
    away_km = _distance_between_names_km(output, inputs, missing)
    parts = {
        "spatial": geoagent_reward.spatial_reward(away_km),
        "semantic": geoagent_reward.semantic_reward(similarity),
        "consistency": geoagent_reward.consistency_reward(agreement, words),
        "words": words,
    }
    return geoagent_reward.total_reward(away_km, similarity, agreement, words), parts, missing


def distance_km(output: RewardedOutput, parser: ParserName) -> tuple[float | None, list[str]]:
    """From what `parser` reads to the truth, on the ellipsoid; None without an answer. Names what is missing."""
    if output.truth is None:
        return None, ["the true position"]
    guess = PARSERS[parser](output.text)
    if guess is None or guess.point is None:
        return None, []
    return geodesic_km((guess.point.lat, guess.point.lon), (output.truth.lat, output.truth.lon)), []


def _tool_use(output: RewardedOutput, inputs: RewardInputs) -> reverse_reward.ToolUse:
    stated = output.given.get("tool_use")
    if stated is not None:
        try:
            return reverse_reward.ToolUse.model_validate(stated)
        except ValidationError as error:
            raise DataError(f"{output.sample}: `tool_use` is wrong: {error.errors()[0]['msg']}") from error
    if inputs.labels is None or not output.photos:
        return reverse_reward.ToolUse()
    cache, path = inputs.labels, inputs.labels.path_of(output.photos[0])
    ious: list[float] = []
    queries = degenerate = 0
    for call, result in (pair for turn in output.turns for pair in calls_with_results(turn)):
        box = searched_box(call)
        if result.failure is not None:
            degenerate += box is not None and result.failure.kind is ToolErrorKind.INVALID_ARGUMENTS
        elif call.name.startswith("image_search") and box is not None:
            ious.append(picture_call(cache, path, box)[1] or 0.0)
        else:
            queries += call.name.startswith("text_search")
    tagged: list[bool] = []
    true: list[bool] = []
    for marks in judged_marks(output.turns, cache, output.photos[0]):
        tagged += [True] * (marks.tp + marks.fp) + [False] * (marks.fn + marks.tn)
        true += [True] * marks.tp + [False] * marks.fp + [True] * marks.fn + [False] * marks.tn
    return reverse_reward.ToolUse(
        image_search_ious=tuple(ious),
        valid_text_queries=queries,
        degenerate_zooms=degenerate,
        useful_tagged=tuple(tagged),
        useful_true=tuple(true),
    )


def _level_similarities(output: RewardedOutput, inputs: RewardInputs, missing: list[str]) -> geoagent_reward.Levels:
    """Of the three names, by the cosines that were given."""
    if not output.solution or inputs.similarities is None:
        missing.append("--similarities" if output.solution else "the true names")
        return geoagent_reward.Levels(country=0, region=0, place=0)
    ours = geoagent_answer.names_in(geoagent_answer.answer_for_names(output.text))
    true = geoagent_answer.names_in(output.solution)
    pairs = [f"{name_read}{PAIR_SEPARATOR}{name}" for name_read, name in zip(ours, true, strict=True)]
    missing += [f"the similarity of {pair}" for pair in pairs if pair not in inputs.similarities]
    country, region, place = (inputs.similarities.get(pair, 0.0) for pair in pairs)
    return geoagent_reward.Levels(country=country, region=region, place=place)


def _level_agreements(output: RewardedOutput, inputs: RewardInputs, missing: list[str]) -> geoagent_reward.Levels:
    """1 for each level at which the second reader names the same place; names are aliases."""
    nothing = geoagent_reward.Levels(country=0, region=0, place=0)
    stages = geoagent_chain.read_chain(output.text)
    if stages is None:
        return nothing
    reread = inputs.conclusions.get((output.sample, output.rollout))
    if reread is None:
        missing.append("the second reader's conclusions (--conclusions)")
        return nothing
    concluded = [str(stages[stage]["Conclusion"]) for stage in geoagent_chain.STAGES]
    agreed = [
        float(conclusion is not None and same_place(conclusion, own))
        for conclusion, own in zip(reread, concluded, strict=True)
    ]
    return geoagent_reward.Levels(country=agreed[0], region=agreed[1], place=agreed[2])


def _distance_between_names_km(output: RewardedOutput, inputs: RewardInputs, missing: list[str]) -> float | None:
    answer = geoagent_answer.answer_for_geocoding(output.text)
    if not answer:
        return None
    if answer not in inputs.geocoded:
        missing.append(f"the position of {answer!r} (--geocoded)")
        return None
    place, true = inputs.geocoded[answer], inputs.geocoded.get(output.solution, output.truth)
    return None if place is None or true is None else geodesic_km((place.lat, place.lon), (true.lat, true.lon))
