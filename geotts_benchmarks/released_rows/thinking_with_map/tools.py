"""`tools.jsonl` of Thinking with Map: a call in a turn, over the made-up reply; what the model then reads.

A row without a provider is one in which the tool server is not reached. Two things only a row's note says: that no
picture came back, and that the server was exactly as released, which is without its key. Repeats of the same request
are not compared: the authors' server asks three times for what is empty, ours asks once.
"""

from __future__ import annotations

import io
import json
import re
from typing import Any, Final

from PIL import Image

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.played_rollout import PlayedRollout, made_photo, played_rollout
from geotts_benchmarks.released_rows.played_tools import played_toolbox
from geotts_benchmarks.released_rows.played_transport import PlayedTransport
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, excluded_row
from geotts_benchmarks.released_rows.thinking_with_map.subject import (
    PHOTO,
    dialect_for,
    schemas_for,
    set_of,
    system_for,
)
from geotts_benchmarks.released_rows.values import with_numbers
from tts.dialects.released.released_dialect import call_penalty
from tts.dialects.released.thinking_with_map.tool_sets import SYSTEM

_NO_PICTURE: Final = "No picture came back"
_WITHOUT_KEY: Final = "exactly as released"
_GOOGLE_MAPS: Final = "Google Maps Static API"  # whose pictures are PNG with a palette
_URL_KEY: Final = re.compile(r"(?<=key=).*$")


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Play the call and compare text, pictures, reward and requests, the last two where the row has them."""
    path = row["path"]
    if not corpus.texts(SYSTEM) and "ValidationError" in (row["returned"]["text"] or ""):
        return excluded_row("the descriptions that the refusal quotes are not in the corpus")
    transport = _transport(row)
    call = {"name": row["tool"], "arguments": with_numbers(row["arguments"])}
    output = f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"
    listed = "amap" if _is_about_errors(row) else set_of(row["tool"], path)
    dialect = dialect_for(path, listed, corpus)
    async with played_toolbox(system_for(path), transport, schemas_for(path, corpus)) as toolbox:
        played = await played_rollout(dialect, toolbox, made_photo(*PHOTO[path]), [output])
    return _compare_call(row, played, transport)


def _is_about_errors(row: Row) -> bool:
    """Whether the row is about a call that no tool answers: such a run has AMap's set, whatever the call names."""
    return str(row["id"]).split("/")[-2] == "errors"


def _compare_call(row: Row, played: PlayedRollout, transport: PlayedTransport | None) -> RowResult:
    wanted = row["returned"]
    answers = [message for message in played.appended_messages() if message.role != "assistant"]
    text = "".join(message.text for message in answers)
    images = [_image(played.files[ref.sha256]) for message in answers for ref in message.images]
    pairs: dict[str, tuple[Any, Any]] = {
        "text": (wanted["text"], text if text or not images else None),
        "images": (wanted["images"], images),
    }
    if "reward" in wanted:
        pairs["reward"] = (wanted["reward"], -sum(call_penalty(result) for result in played.results))
    if "requests" in row and transport is not None:
        pairs["requests"] = (
            [_plain_request(r) for r in row["requests"]],
            [_plain_request(r) for r in transport.requests],
        )
    return compare_pairs(**pairs)


def _transport(row: Row) -> PlayedTransport | None:
    if _NO_PICTURE in (row.get("note") or ""):
        return PlayedTransport({"picture": [0, 0]})
    provider = row.get("provider")
    if provider is None:
        return None
    if _WITHOUT_KEY in (row.get("note") or ""):
        return PlayedTransport({"status": 403, "reply": {"message": "Unauthorized."}})
    from_google = provider.get("service") == _GOOGLE_MAPS and "picture" in provider
    return PlayedTransport(provider, mode="P" if from_google else "RGB")


def _image(data: bytes) -> dict[str, Any]:
    with Image.open(io.BytesIO(data)) as picture:
        return {"width": picture.width, "height": picture.height, "mode": picture.mode}


def _plain_request(request: dict[str, Any]) -> dict[str, Any]:
    """With the key left out and escapes opened, which the rows write in two ways."""
    url = request["url"].replace("%7C", "|")
    return request | {"url": _URL_KEY.sub("", url)}
