"""GeoAgent: its rewards, with the similarities and positions that a row supplies in place of the services."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, excluded_row
from tts.rewards.released import geoagent_chain, geoagent_reward
from tts.rewards.released.distances import haversine_km
from tts.rewards.released.geoagent_answer import answer_for_geocoding
from tts.rewards.released.geoagent_geocoder import query_of, without_last_part

_ALL_AGREE = (True, True, True)
Reply = Callable[[str, str, str], str | None]
"""From the id, the stage and its conclusion to what the second reader answers; None for no answer."""


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Compute the reward that the row's `kind` names; KeyError for an unknown kind."""
    return _COMPARISONS[row["kind"]](row)


def _compare_spatial(row: Row) -> RowResult:
    return compare_pairs(value=(row["value"], geoagent_reward.spatial_reward(row["input"]["km"])))


def _compare_distance(row: Row) -> RowResult:
    return compare_pairs(
        value=(row["value"], haversine_km(*(row["input"][key] for key in ("lat1", "lon1", "lat2", "lon2"))))
    )


def _compare_format(row: Row) -> RowResult:
    return compare_pairs(value=(row["value"], geoagent_reward.format_reward(row["input"]["text"])))


def _compare_geo_format(row: Row) -> RowResult:
    return compare_pairs(value=(row["value"], geoagent_reward.geo_format_reward(row["input"]["text"])))


def _compare_names(row: Row) -> RowResult:
    given = row["input"]
    if "cosine" in given:
        return compare_pairs(value=(row["value"], geoagent_reward.clip_similarity(given["cosine"])))
    table: Mapping[str, float] = given["similarities"]
    made = geoagent_reward.names_reward(given["text"], given["solution"], lambda a, b: table.get(f"{a} | {b}", 0.0))
    return compare_pairs(
        value=(row["value"], made.value), compared=(row["compared"], [list(pair) for pair in made.compared])
    )


def _compare_spatial_of_text(row: Row) -> RowResult:
    table: Mapping[str, list[float]] = row["input"]["geocoder"]

    def geocode(address: str) -> geoagent_reward.Position | None:
        asked: str | None = address
        while asked is not None:
            if (found := table.get(query_of(asked))) is not None:
                return found[0], found[1]
            asked = without_last_part(asked)
        return None

    answers = [answer_for_geocoding(row["input"][key]) for key in ("text", "solution")]
    guess, true = (geocode(answer) if answer else None for answer in answers)
    return compare_pairs(value=(row["value"], geoagent_reward.spatial_reward_between(guess, true)))


def _compare_length_weight(row: Row) -> RowResult:
    return compare_pairs(value=(row["value"], geoagent_chain.length_weight(row["input"]["reasoning_characters"])))


def _compare_consistency(row: Row) -> RowResult:
    given = row["input"]
    if (lengths := given.get("lengths")) is not None:
        return compare_pairs(value=(row["value"], geoagent_chain.consistency_reward(tuple(lengths), _ALL_AGREE)))
    reply = _REPLIES_BY_REASON.get(given["why"])
    if reply is None:
        return excluded_row("the replies of the second reader are not in the row, and its reason does not say them")
    stages = geoagent_chain.read_chain(given["text"])
    if stages is None:
        return compare_pairs(value=(row["value"], 0.0))
    read = []
    for number, question in enumerate(geoagent_chain.questions(stages)):
        conclusion = reply(f"{number}", question.stage, str(stages[question.stage]["Conclusion"]))
        read.append(None if conclusion is None else geoagent_chain.conclusion_of(conclusion, f"{number}"))
    return compare_pairs(value=(row["value"], geoagent_chain.reward_of(stages, read)))


def _conclusion_text(request_id: str, conclusion: str) -> str:
    return json.dumps({"id": request_id, "Conclusion": conclusion}, ensure_ascii=False)


def _reply_right_at(stage: str) -> Reply:
    return lambda request_id, asked, right: _conclusion_text(request_id, right if asked == stage else "Elsewhere")


_REPLIES_BY_REASON: Mapping[str, Reply] = {
    "blanks make no difference": lambda request_id, stage, right: _conclusion_text(
        request_id, f" {right[:2]} {right[2:]} "
    ),
    "country only": _reply_right_at("CountryIdentification"),
    "region only": _reply_right_at("RegionalGuess"),
    "place only": _reply_right_at("PreciseLocalization"),
    "the id is not repeated": lambda request_id, stage, right: _conclusion_text(f"not {request_id}", right),
    "no JSON": lambda request_id, stage, right: right,
    "HTTP 500": lambda request_id, stage, right: None,
    "timeout": lambda request_id, stage, right: None,
}
"""What the second reader answers, as the reason of a row says."""


_COMPARISONS: Mapping[str, Callable[[Row], RowResult]] = {
    "spatial": _compare_spatial,
    "distance": _compare_distance,
    "format": _compare_format,
    "geo_format": _compare_geo_format,
    "names": _compare_names,
    "spatial_of_text": _compare_spatial_of_text,
    "length_weight": _compare_length_weight,
    "consistency": _compare_consistency,
}
