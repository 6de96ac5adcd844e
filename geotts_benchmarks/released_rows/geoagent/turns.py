"""GeoAgent: one output, what each of its rewards reads in it, and that the run ends there."""

from __future__ import annotations

from pydantic import JsonValue

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs
from tts.dialects import DIALECTS
from tts.dialects.base import Completion, FinishedTurn
from tts.dialects.settings import DialectSettings
from tts.domain.messages import text_message
from tts.rewards.released import geoagent_answer, geoagent_chain, geoagent_reward

_CUT_MARK = "…"


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Compare what the row states of its output, and the country that is served with that of its address."""
    text = row["assistant"]
    dialect = DIALECTS["geoagent"].with_settings(DialectSettings(behaviour="released"))
    replies = (text_message("assistant", text),)
    parsed = dialect.parse(Completion(text), turn=0)
    following = dialect.continue_after(FinishedTurn(0, dialect.limits.max_turns, parsed, (), replies))
    concluded = dialect.conclusion(replies)
    answer = geoagent_answer.answer_for_geocoding(text)
    country = geoagent_answer.names_in(answer or "").country
    names = geoagent_answer.answer_for_names(text)
    made: dict[str, JsonValue] = {
        "answer_for_geocoding": answer,
        "answer_for_names": names,
        "fields": list(geoagent_answer.names_in(names)),
        "chain_readable": geoagent_chain.read_chain(text) is not None,
        "format": geoagent_reward.format_reward(text),
        "geo_format": geoagent_reward.geo_format_reward(text),
        "stop": following.ends,
    }
    read = "" if concluded is None or concluded.answer is None else concluded.answer.country
    pairs = {name: (row[name], cut_like_corpus(row[name], value)) for name, value in made.items() if name in row}
    return compare_pairs(country_served=(country, read), **pairs)


def cut_like_corpus(kept: JsonValue, made: JsonValue) -> JsonValue:
    """What was made, cut where the corpus cuts long texts."""
    if isinstance(kept, str) and isinstance(made, str) and kept.endswith(_CUT_MARK):
        return made[: len(kept) - len(_CUT_MARK)] + _CUT_MARK
    if isinstance(kept, list) and isinstance(made, list) and len(kept) == len(made):
        return [cut_like_corpus(a, b) for a, b in zip(kept, made, strict=True)]
    return made
