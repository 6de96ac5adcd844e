"""`sampling.json`: each value that concerns serving, against what the shipped profile of the system sends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.made_result import made_result
from geotts_benchmarks.released_rows.played_rollout import made_photo
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, differing_row, excluded_row
from geotts_benchmarks.released_rows.sampling import pictures, verifier
from geotts_benchmarks.released_rows.sampling.shipped_profile import (
    ShippedProfile,
    context_length,
    grainy_photo,
    load_shipped_profile,
    pictures_in,
)
from tts.dialects.text_dialect import TextDialect

Check = Callable[[Row, ShippedProfile, Corpus], Awaitable[RowResult]]
_WHOLE_BOX: Final = [0, 0, 1000, 1000]
_TINY_BOX: Final = [500, 500, 510, 510]
_ZOOM_CALL: Final = '{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": %s, "label": "x", "img_idx": 0}}'
_ZOOM_OUTPUT: Final = f"<tool_call>\n{_ZOOM_CALL}\n</tool_call>"
_THOUGHT_OUTPUT: Final = "<think>a</think>"
_LONG_TEXT: Final = "".join(chr(0x4E00 + i) for i in range(9000))
_COUNT_REASON = "how many rollouts there are is said by each request (`n_parallel`)"
_MAPS_REASON = "maps are those of the services (docs/dialects.md); the rows of the tools compare their sizes"


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Run the check of the row's name; a value without a check differs unless a reason is declared for it."""
    system, name = row["id"].partition("/")[0], row["name"]
    if (reason := _DECLARED_REASONS.get(f"{system}/{name}")) is not None:
        return excluded_row(reason)
    check = _CHECKS.get(f"{system}/{name}")
    if check is None:
        return differing_row("nothing says what the profile sends there")
    section = name.partition("/")[0]
    return await check(row, load_shipped_profile(system, section if section in ("demo", "rl") else ""), corpus)


async def _compare_field(
    row: Row, case: ShippedProfile, corpus: Corpus, *, field: str, absent: Any = None, n: int = 1
) -> RowResult:
    """A field of the body; what is absent there stands for the servers' own value."""
    return compare_pairs(value=(row["value"], (await case.first_body(n=n)).get(field, absent)))


async def _compare_is_sampled(row: Row, case: ShippedProfile, corpus: Corpus, *, n: int) -> RowResult:
    return compare_pairs(value=(row["value"], (await case.first_body(n=n))["temperature"] > 0))


async def _compare_turns(
    row: Row, case: ShippedProfile, corpus: Corpus, *, output: str, uncounted: int = 0
) -> RowResult:
    """Messages of a model that goes on for ever."""
    return compare_pairs(value=(row["value"] + uncounted, await case.turns(output)))


async def _compare_call_limit(row: Row, case: ShippedProfile, corpus: Corpus, *, tool: str) -> RowResult:
    return compare_pairs(value=(row["value"], case.dialect.calls_per_tool.get(tool)))


async def _compare_context(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    return compare_pairs(value=(row["value"], context_length(case.args.dialect)))


async def _compare_has_tools(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    return compare_pairs(value=(row["value"], bool((await case.first_body()).get("tools"))))


async def _compare_parallel_calls(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """Of two calls in a message, the first runs."""
    return compare_pairs(
        value=(row["value"], len((await case.play([_zoom_output(_WHOLE_BOX) + _zoom_output(_TINY_BOX)])).calls))
    )


async def _compare_call_order(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    played = await case.play([_zoom_output(_WHOLE_BOX) + _zoom_output(_TINY_BOX)])
    boxes = [box for box in (str(_WHOLE_BOX), str(_TINY_BOX)) for result in played.results if box in result.text]
    made = "all of one message run, in order" if boxes == [str(_WHOLE_BOX), str(_TINY_BOX)] else str(boxes)
    return compare_pairs(value=(row["value"], made))


async def _compare_call_format(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    return compare_pairs(
        value=(row["value"], "hermes" if (await case.play([_zoom_output(_WHOLE_BOX)])).calls else "none")
    )


async def _compare_text_limit(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """Characters of a long result that the model reads, without the mark of what is cut."""
    return compare_pairs(value=(row["value"], sum(letter in _LONG_TEXT for letter in _text_for_model(case))))


async def _compare_text_side(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """The side that is kept: `left` is the beginning, `middle` cuts there."""
    read = _text_for_model(case)
    starts, ends = read.startswith(_LONG_TEXT[:100]), read.endswith(_LONG_TEXT[-100:])
    made = "middle" if starts and ends else "left" if starts else "right"
    return compare_pairs(value=(row["value"], made))


async def _compare_max_photo(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    return await pictures.photo_of_most_pixels(row, case)


async def _compare_unchanged_photo(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    return await pictures.photo_as_it_is(row, case)


async def _compare_boxes(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """A box of the shown photo's lower half is the lower half of the photo."""
    photo = grainy_photo(2000, 1500)
    body = await case.first_body(photo=photo)
    (data,) = pictures_in(body)
    shown = pictures.open_picture(data)
    played = await case.play([_zoom_output([0, shown.height // 2, shown.width, shown.height])], photo)
    crop = pictures.open_picture(next(iter(played.files.values())))
    ratio = crop.width / crop.height
    return compare_pairs(half=(True, abs(ratio - photo.width / (photo.height / 2)) < 0.1))


async def _compare_crop_multiple(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    found = [await pictures.crop_of(case, box) for box in ([0, 0, 300, 410], [100, 30, 650, 900], [5, 7, 501, 333])]
    return compare_pairs(multiple=(True, pictures.is_multiple(row["value"], *found)))


async def _compare_min_crop(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    small = await pictures.crop_of(case, [500, 500, 530, 530])
    return compare_pairs(least=(True, pictures.is_least(row["value"], small, _CROP_MULTIPLES[case.args.dialect])))


async def _compare_max_crop(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    box = [0, 0, 1672, 1254] if case.args.dialect == "geovista" else _WHOLE_BOX
    large = await pictures.crop_of(case, box)
    return compare_pairs(most=(True, pictures.is_most(row["value"], large, _CROP_MULTIPLES[case.args.dialect])))


async def _compare_crop_filter(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    photo = grainy_photo(2000, 1500)
    source = photo.image().crop((0, 0, 600, 600))
    made = await pictures.crop_of(case, [0, 0, 300, 400])
    return compare_pairs(value=(row["value"], pictures.filter_of(made, source)))


async def _compare_min_side(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """A box that is too small is grown until its shorter side has that many pixels, which are whole ones."""
    side = min((await pictures.crop_of(case, [500, 500, 501, 501])).size)
    return compare_pairs(grown=(True, row["value"] <= side <= row["value"] + 1))


async def _compare_side_ratio(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """A box just above the ratio is refused, one just below is shown."""
    photo = made_photo(4000, 3000)
    over, under = (1000 / (row["value"] * step) * photo.width / photo.height for step in (1.03, 0.93))
    shown = [bool((await case.play([_zoom_output([0, 100, 1000, 100 + high])], photo)).files) for high in (over, under)]
    return compare_pairs(shown=([False, True], shown))


async def _compare_crop_scale(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """Half of a photo that the processor leaves as it is has half of its sides."""
    size = (await pictures.crop_of(case, [100, 200, 600, 700], made_photo(1008, 756))).size
    return compare_pairs(value=(row["value"], size != (504, 378)))


def _zoom_output(box: Sequence[float]) -> str:
    return _ZOOM_OUTPUT % [*box]


def _text_for_model(case: ShippedProfile) -> str:
    """What the model reads of a result that is far too long."""
    assert isinstance(case.dialect, TextDialect)
    return case.dialect.result_text(made_result(_LONG_TEXT))


_CROP_MULTIPLES: Final = {"geovista": 28, "reverse": 28, "thinking_with_map": 32}
_TEMPERATURE_CHECK: Final[Check] = partial(_compare_field, field="temperature")
_MAX_TOKENS_CHECK: Final[Check] = partial(_compare_field, field="max_tokens")
_CHECKS: Final[Mapping[str, Check]] = {
    "geoagent/inference/temperature": _TEMPERATURE_CHECK,
    "geoagent/inference/max_tokens": _MAX_TOKENS_CHECK,
    "geoagent/inference/turns": partial(_compare_turns, output=_THOUGHT_OUTPUT),
    "geoagent/inference/photo": _compare_unchanged_photo,
    "geovista/eval/temperature": _TEMPERATURE_CHECK,
    "geovista/eval/max_tokens": _MAX_TOKENS_CHECK,
    "geovista/eval/max_rounds": partial(_compare_turns, output=_zoom_output([0, 0, 500, 500])),
    "geovista/eval/crops": partial(_compare_call_limit, tool="image_zoom_in_tool"),
    "geovista/eval/searches": partial(_compare_call_limit, tool="search_web"),
    "geovista/eval/photo/max_pixels": _compare_max_photo,
    "geovista/eval/crop/min_pixels": _compare_min_crop,
    "geovista/eval/crop/max_pixels": _compare_max_crop,
    "geovista/eval/crop/multiple_of": _compare_crop_multiple,
    "geovista/eval/boxes": _compare_boxes,
    "reverse/eval/temperature": _TEMPERATURE_CHECK,
    "reverse/eval/max_tokens": _MAX_TOKENS_CHECK,
    "reverse/eval/max_turns": partial(
        _compare_turns, output=_THOUGHT_OUTPUT, uncounted=1
    ),  # counted from 0 to that number
    "reverse/eval/context_length": _compare_context,
    "reverse/eval/stop": partial(_compare_field, field="stop"),
    "reverse/eval/tools_in_request": _compare_has_tools,
    "reverse/eval/calls_per_message": _compare_call_order,
    "reverse/eval_limits/image_zoom_in_tool": partial(_compare_call_limit, tool="image_zoom_in_tool"),
    "reverse/eval_limits/image_search_tool": partial(_compare_call_limit, tool="image_search_tool"),
    "reverse/eval_limits/text_search_tool": partial(_compare_call_limit, tool="text_search_tool"),
    "reverse/eval_photo/max_pixels": _compare_max_photo,
    "reverse/eval_crop/multiple_of": _compare_crop_multiple,
    "reverse/eval_crop/min_pixels": _compare_min_crop,
    "reverse/eval_crop/max_pixels": _compare_max_crop,
    "reverse/eval_crop/filter": _compare_crop_filter,
    "reverse/rl/temperature": _TEMPERATURE_CHECK,
    "reverse/rl/top_p": partial(_compare_field, field="top_p", absent=1.0),
    "reverse/rl/max_response_length": _MAX_TOKENS_CHECK,
    "reverse/rl/max_assistant_turns": partial(_compare_turns, output=_zoom_output(_WHOLE_BOX)),
    "reverse/rl/max_tool_response_length": _compare_text_limit,
    "reverse/rl/tool_response_truncate_side": _compare_text_side,
    "reverse/rl/max_parallel_calls": _compare_parallel_calls,
    "reverse/rl/image_max_pixels": _compare_max_photo,
    "thinking_with_map/validation_in_training/top_k": partial(_compare_field, field="top_k", n=4),
    "thinking_with_map/validation_in_training/top_p": partial(_compare_field, field="top_p", n=4),
    "thinking_with_map/validation_in_training/temperature": partial(_compare_field, field="temperature", n=4),
    "thinking_with_map/validation_in_training/do_sample": partial(_compare_is_sampled, n=4),
    "thinking_with_map/released_test_script/temperature": _TEMPERATURE_CHECK,
    "thinking_with_map/released_test_script/do_sample": partial(_compare_is_sampled, n=1),
    "thinking_with_map/limits/max_response_length": _MAX_TOKENS_CHECK,
    "thinking_with_map/limits/max_model_len": _compare_context,
    "thinking_with_map/limits/max_assistant_turns": partial(_compare_turns, output=_zoom_output(_WHOLE_BOX)),
    "thinking_with_map/limits/max_user_turns": partial(_compare_turns, output=_zoom_output(_WHOLE_BOX)),
    "thinking_with_map/limits/max_parallel_calls": _compare_parallel_calls,
    "thinking_with_map/limits/tool_call_format": _compare_call_format,
    "thinking_with_map/limits/max_tool_response_length": _compare_text_limit,
    "thinking_with_map/limits/tool_response_truncate_side": _compare_text_side,
    "thinking_with_map/photo/crop/min_side": _compare_min_side,
    "thinking_with_map/photo/crop/max_side_ratio": _compare_side_ratio,
    "thinking_with_map/photo/crop/scaled": _compare_crop_scale,
    "thinking_with_map/verifier/temperature": verifier.temperature,
    "thinking_with_map/verifier/max_tokens": verifier.max_tokens,
    "thinking_with_map/verifier/photo_max_side": verifier.photo_max_side,
    "thinking_with_map/verifier/example": verifier.example,
    "thinking_with_map/demo/temperature": _TEMPERATURE_CHECK,
    "thinking_with_map/demo/top_p": partial(_compare_field, field="top_p"),
    "thinking_with_map/demo/top_k": partial(_compare_field, field="top_k"),
    "thinking_with_map/demo/repetition_penalty": partial(_compare_field, field="repetition_penalty", absent=1.0),
    "thinking_with_map/demo/presence_penalty": partial(_compare_field, field="presence_penalty"),
    "thinking_with_map/demo/max_model_calls": partial(_compare_turns, output=_zoom_output(_WHOLE_BOX)),
    "thinking_with_map/demo/crop/min_pixels": _compare_min_crop,
    "thinking_with_map/demo/crop/multiple_of": _compare_crop_multiple,
}
_DECLARED_REASONS: Final[Mapping[str, str]] = {
    "reverse/eval/concurrency": "how many photos are asked at once is the caller's",
    "reverse/eval/request_timeout_s": "a request ends with its deadline, which the caller says",
    "reverse/eval/request_attempts": "how often a lost request is repeated is the operator's: engine.retries",
    "reverse/rl/n": _COUNT_REASON,
    "reverse/rl/val_n": _COUNT_REASON,
    "reverse/rl/max_prompt_length": "the length of a prompt is limited by the model's context alone",
    "thinking_with_map/validation_in_training/n": _COUNT_REASON,
    "thinking_with_map/released_test_script/n": _COUNT_REASON,
    "thinking_with_map/limits/max_prompt_length": "the length of a prompt is limited by the model's context alone",
    "thinking_with_map/photo/columns_written/min_pixels": "no released code reads it",
    "thinking_with_map/photo/columns_written/max_pixels": "no released code reads it",
    **{f"thinking_with_map/photo/map/{name}": _MAPS_REASON for name in ("zoom", "width", "height", "marker")},
    "thinking_with_map/verifier/candidates": _COUNT_REASON,
    **{f"thinking_with_map/demo/static_map/{name}": _MAPS_REASON for name in ("width", "height", "device_pixels")},
    **{f"thinking_with_map/demo/satellite_map/{name}": _MAPS_REASON for name in ("width", "height")},
}
