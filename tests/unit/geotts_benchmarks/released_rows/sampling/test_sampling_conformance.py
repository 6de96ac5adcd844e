"""Values of `sampling.json` against what the shipped profiles send: wrong ones differ, and so do unknown ones."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from geotts_benchmarks.cli import command

LIMIT = 2048 * 1024


def run_conformance(folder: Path, system: str, values: dict, texts: dict | None = None) -> dict:
    """What `geotts bench conformance --only sampling` says of a made-up corpus."""
    (folder / system).mkdir(parents=True)
    (folder / system / "turns.jsonl").write_text("")
    (folder / system / "sampling.json").write_bytes(orjson.dumps(values))
    if texts:
        (folder / system / "prompts.json").write_bytes(orjson.dumps(texts))
    done = CliRunner().invoke(command, ["conformance", "--corpus", str(folder), "--only", "sampling"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])["by_system"][system]["sampling"]


def test_a_wrong_sampling_value_and_an_unknown_setting_differ(tmp_path):
    sections = {
        "eval": {
            "temperature": {"value": 0.0, "where": "somewhere"},
            "max_tokens": {"value": 1024},
            "max_turns": {"value": 9},
            "something_new": {"value": 1},
            "concurrency": {"value": 8},
        },
        "sft": {"lr": {"value": 1}},
    }
    made = run_conformance(tmp_path, "reverse", sections)
    prefix = "reverse/sampling/eval/"
    assert made["differ"] == [f"{prefix}max_tokens", f"{prefix}max_turns", f"{prefix}something_new"]
    assert made["declared_ids"] == [f"{prefix}concurrency"]
    assert (made["rows"], made["equal"]) == (5, 1)


@pytest.mark.parametrize(
    ("value", "note", "equal"),
    [
        (LIMIT, "LANCZOS, sides cut to whole numbers, JPEG quality 90", True),
        (LIMIT, "LANCZOS", True),
        (LIMIT, "BICUBIC, JPEG quality 90", False),
        (LIMIT, "", False),  # a resize that names no filter is bicubic
        (LIMIT, "LANCZOS, JPEG quality 75", False),
        (LIMIT // 2, "LANCZOS, JPEG quality 90", False),
    ],
)
def test_the_photo_of_reverse_is_compared_by_its_pixels(tmp_path, value, note, equal):
    made = run_conformance(tmp_path, "reverse", {"eval_photo": {"max_pixels": {"value": value, "note": note}}})
    assert made["differ"] == ([] if equal else ["reverse/sampling/eval_photo/max_pixels"])


@pytest.mark.parametrize(("how", "equal"), [("BICUBIC", True), ("LANCZOS", False)])
def test_the_crops_of_reverse_are_compared_by_their_filter(tmp_path, how, equal):
    made = run_conformance(tmp_path, "reverse", {"eval_crop": {"filter": {"value": how}}})
    assert bool(made["equal"]) is equal


def test_the_verifier_of_the_profile_asks_as_published(tmp_path):
    values = {"temperature": {"value": 0.0}, "max_tokens": {"value": 256}, "photo_max_side": {"value": 1024}}
    made = run_conformance(tmp_path, "thinking_with_map", {"verifier": values})
    assert (made["equal"], made["declared"]) == (2, 1)


def test_the_prompt_of_the_verifier_is_compared_with_the_published_example(tmp_path):
    published: dict[str, Any] = {
        "system": {"text": "Judge."},
        "user_template": "Asked:\n{input}\n\nSaid:\n{candidates joined by one blank line}\n\nJSON",
        "photo": "at most 1024 (bilinear), JPEG quality 90",
        "example": {
            "input": {
                "user_input": "",
                "outputs": [
                    {"output": "a\nuser\n<tool_response>\nr\n</tool_response>\nassistant\nb ", "score": 1.0},
                    {"output": "c"},
                ],
            },
        },
    }
    task = "system\nBe good.\nuser\nWhere?\nassistant\n"
    first = "[Agent 0 | score=1.0] a\nuser\n<tool_response>\nr\n</tool_response>\nassistant\nb"
    asked = f"Asked:\n{task}\n\nSaid:\n{first}\n\n[Agent 1] c\n\nJSON"
    parts = [{"type": "text", "text": asked}, {"type": "image_url"}]
    published["example"]["messages"] = [
        {"role": "system", "content": "Judge."},
        {"role": "user", "content": parts},
    ]
    single = {"system": {"text": "Be good."}, "user": {"text": "<image>Where?"}}
    sets: dict[str, Any] = {key: {"schemas": []} for key in ("tools_amap", "tools_google", "tools_zoom_and_search")}
    texts = {"single_run": {**single, **sets}, "demo": {}, "verifier": published}
    for name, verifier, equal in (("same", published, True), ("turned", _photo_first(published), False)):
        made = run_conformance(tmp_path / name, "thinking_with_map", {}, {**texts, "verifier": verifier})
        assert (made["rows"], bool(made["equal"])) == (1, equal), name


def _photo_first(published: dict) -> dict:
    system, user = published["example"]["messages"]
    turned = {**user, "content": user["content"][::-1]}
    return {**published, "example": {**published["example"], "messages": [system, turned]}}
