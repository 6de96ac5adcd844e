"""The published verifier of Thinking with Map: its sampling, its photo, and its whole message for the example.

Scores against the truth stand beside the example's outputs; nothing here knows or writes one, so they are left out on
both sides. The order of the outputs is drawn by the id of the request, which here is one that leaves them as they are.
"""

from __future__ import annotations

import random
import re
from itertools import count
from typing import Any, Final

from deployments.config import load_config
from deployments.wiring.parts import trajectory_texts
from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.made_result import made_result
from geotts_benchmarks.released_rows.played_rollout import made_photo
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, excluded_row
from geotts_benchmarks.released_rows.sampling.pictures import check_note
from geotts_benchmarks.released_rows.sampling.shipped_profile import ENDPOINT, ShippedProfile, grainy_photo, pictures_in
from geotts_benchmarks.released_rows.thinking_with_map.subject import texts_for
from tts.domain.photo import Photo
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.trajectory import Trajectory, Turn
from tts.ports.verification import VerifyRequest
from tts.profiles import load_profile
from tts.verify.verifiers.published_verifier import trajectories_request

_SYSTEM: Final = "thinking_with_map"
_AGENT_SCORE: Final = re.compile(r"^(\[Agent \d+) \| score=[^\]]*\]", re.MULTILINE)
_TOOL_RESULT: Final = re.compile(r"\nuser\n<tool_response>\n(.*?)\n</tool_response>\nassistant\n", re.DOTALL)
_LARGE_SIZE: Final = (1600, 1200)


async def temperature(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """Compare the temperature that the verifier's request carries."""
    body = await _request_body(case, corpus, [], grainy_photo(*_LARGE_SIZE))
    return compare_pairs(value=(row["value"], body["temperature"]))


async def max_tokens(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """Compare the limit of tokens that the verifier's request carries."""
    body = await _request_body(case, corpus, [], grainy_photo(*_LARGE_SIZE))
    return compare_pairs(value=(row["value"], body["max_tokens"]))


async def photo_max_side(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """The corpus says the filter and the quality beside the prompt."""
    note = corpus.texts(_SYSTEM).get("verifier", {}).get("photo")
    if note is None:
        return excluded_row("by which filter is said beside a prompt that nobody supplied")
    photo = grainy_photo(*_LARGE_SIZE)
    (picture,) = pictures_in(await _request_body(case, corpus, [], photo))
    scale = max(_LARGE_SIZE) / row["value"]
    size = (int(photo.width / scale), int(photo.height / scale))
    return check_note(row, photo, size, picture, note)


async def example(row: Row, case: ShippedProfile, corpus: Corpus) -> RowResult:
    """Compare the system text, the kinds of parts and the whole text of the example's request."""
    given = row["value"]["input"]
    outputs = [found["output"] for found in given["outputs"]]
    body = await _request_body(case, corpus, outputs, made_photo(*_LARGE_SIZE))
    system, asked = row["value"]["messages"]
    made_system, made = body["messages"]
    text, picture = asked["content"]
    return compare_pairs(
        system=(system["content"], made_system["content"]),
        kinds=([text["type"], picture["type"]], [part["type"] for part in made["content"]]),
        text=(_AGENT_SCORE.sub(r"\1]", text["text"]), made["content"][0]["text"]),
    )


async def _request_body(case: ShippedProfile, corpus: Corpus, outputs: list[str], photo: Photo) -> dict[str, Any]:
    """What the shipped profile's verifier asks an endpoint, with the corpus' texts as the user's imported ones."""
    profile = load_profile(_SYSTEM).tree(model="m", endpoint=ENDPOINT)
    args = load_config(None, {"dialect_settings": texts_for("verl", corpus)}, profile=profile)
    context = RequestContext(id=_row_id_for(len(outputs)), remaining_s=60.0)
    trajectories = tuple(_trajectory(number, output) for number, output in enumerate(outputs))
    request = VerifyRequest(context, (photo,), LocateOptions(), trajectories)
    return await case.body(trajectories_request(request, args.verifier, trajectory_texts(args)))


def _trajectory(number: int, output: str) -> Trajectory:
    """A dump taken apart: what the model said, and what its tools returned."""
    pieces = _TOOL_RESULT.split(output)
    outputs, results = pieces[::2], pieces[1::2]
    turns = [
        Turn(index=i, text=text, results=tuple(made_result(found).result for found in results[i : i + 1]))
        for i, text in enumerate(outputs)
    ]
    return Trajectory(rollout_id=number, turns=tuple(turns))


def _row_id_for(outputs: int) -> str:
    for number in count():
        order = list(range(outputs))
        random.Random(f"made-up-{number}/trajectories").shuffle(order)
        if order == sorted(order):
            return f"made-up-{number}"
    raise AssertionError
