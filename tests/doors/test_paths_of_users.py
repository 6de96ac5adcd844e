"""The commands that three kinds of users type first: an API key, a laptop with a small model, eight GPUs.

Each runs as they would run it: the `geotts` of a fresh environment with the installed wheel, in a process of its own,
in an empty folder, without a configuration file.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.chat_servers import BY_NAME, play_server
from support.chat_speakers import speaking
from support.cutting_server import CuttingServer, is_canary, ollama_pages
from support.endpoint import Reply, serving, text_chunks
from support.ports import free_port

from tts.package_files import SAMPLES

PHOTO = str(SAMPLES / "town-sign-latin.jpg")
HOSTED = ("openai-chat", "openai-reasoning", "gemini", "anthropic", "openrouter")
ON_A_LAPTOP = ("ollama", "lm-studio", "llama-server", "vllm", "sglang")


def test_all_packages_of_the_command_are_imported_from_the_wheel(installed, tmp_path):
    names = "deployments, geotts_client, tools, tts"
    code = f"import {names}; print(*(module.__file__ for module in ({names})))"
    done = installed.run("python", "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(Path(path).is_relative_to(installed.site_packages) for path in done.stdout.split())


@pytest.mark.parametrize(
    ("profile", "name"), [*(("hosted", name) for name in HOSTED), *(("small", name) for name in ON_A_LAPTOP)]
)
async def test_the_first_photo_is_answered_with_tools_used(geotts, profile, name):
    server = BY_NAME[name]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        code, out, err = await geotts(
            "locate", PHOTO, "--json", "--profile", profile, "--endpoint", endpoint.url, "--model", server.model,
            OPENAI_API_KEY="sk-test",
        )  # fmt: skip
        keys = {headers.get("authorization") for headers in endpoint.headers}
    assert (code, keys) == (0, {"Bearer sk-test"}), err
    answer = json.loads(out)["answer"]
    assert (answer["country"], answer["abstained"]) == ("Japan", False)
    assert answer["usage"]["tool_calls"] >= 1
    assert answer["usage"]["bytes_sent"] > 10_000
    assert answer["n"]["run"] >= 1


async def test_an_answer_with_line_breaks_in_its_texts_is_used(geotts):
    """Chat models write a reasoning of several lines into their JSON as it is."""
    answer = """```json
{
  "lat": 47.8864, "lon": 106.9057, "city": "Ulaanbaatar", "country": "Mongolia",
  "reasoning": "The script is Cyrillic.

The shop signs are in Mongolian.",
  "evidence": [{"claim": "a sign says
Улаанбаатар"}]
}
```"""
    server = BY_NAME["openai-chat"]
    async with serving(lambda body, number: text_chunks(answer), server.pages) as endpoint:
        code, out, err = await geotts(
            "locate", PHOTO, "--json", "--profile", "hosted", "--endpoint", endpoint.url, "--model", server.model,
            "-n", "1", "--depth", "deep", OPENAI_API_KEY="sk-test",
        )  # fmt: skip
    assert code == 0, err
    found = json.loads(out)["answer"]
    assert (found["country"], found["abstained"], found["n"]["answered"]) == ("Mongolia", False, 1)


async def test_a_small_profile_sends_small_pictures_and_few_tools(geotts):
    server = BY_NAME["lm-studio"]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        await geotts(
            "locate", PHOTO, "--json", "--profile", "small", "--endpoint", endpoint.url, "--model", server.model
        )
    tools = {tool["function"]["name"] for body in endpoint.bodies for tool in body.get("tools", ())}
    assert tools == {"image_zoom", "read_text", "poi_keyword_search", "country_at"}


@pytest.mark.parametrize(
    ("width", "order"), [((), ["begins", "ends"]), (("--set", "routing.width=full"), ["begins"] * 2)]
)
async def test_the_second_attempt_of_a_small_profile_waits_for_the_first_turn_of_the_first(geotts, width, order):
    server = BY_NAME["vllm"]
    play, seen = play_server(server, speaking("generic")), []

    def slow(body, number):
        steps = play(body, number)
        first_turn = body.get("stream") and not any(message["role"] == "assistant" for message in body["messages"])
        return steps if isinstance(steps, Reply) or not first_turn else watched(steps)

    def watched(steps):
        seen.append("begins")
        for number, step in enumerate(steps):
            yield step
            if number == 2:
                yield 5.0  # the first words are there, the turn is not
        seen.append("ends")

    async with serving(slow, server.pages) as endpoint:
        code, _, err = await geotts(
            "locate", PHOTO, "--profile", "small", "--endpoint", endpoint.url, "--model", server.model, *width
        )
    assert code == 0, err
    assert (seen[:2], seen.count("begins")) == (order, 2)


async def test_an_endpoint_with_several_models_and_none_named_is_an_error_that_lists_them(geotts):
    server = BY_NAME["openai-chat"]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        code, _, err = await geotts("locate", PHOTO, "--profile", "hosted", "--endpoint", endpoint.url)
    assert code == 1
    assert "name one with --model (gpt-chat, other)" in " ".join(err.split())


@pytest.mark.parametrize("command", [("locate", PHOTO), ("serve", "--plan")])
@pytest.mark.parametrize(("profile", "model"), [("hosted", ("--model", "o-thinking")), ("small", ())])
async def test_a_profile_of_somebody_elses_model_asks_for_the_endpoint(geotts, command, profile, model):
    code, _, err = await geotts(*command, "--profile", profile, *model)
    assert code == 2
    assert f"the profile {profile} needs --endpoint URL" in " ".join(err.split())


async def test_a_plan_for_eight_gpus_names_its_parts_and_warns_of_what_is_missing(geotts):
    code, _, err = await geotts(
        "serve", "--profile", "thinking_with_map", "--gpus", "8x80", "--plan", GOOGLE_MAPS_API_KEY="k"
    )
    assert code == 0
    assert "model: GD-ML/Thinking-with-Map-30B-A3B" in err
    assert "GPUs: 8 x 80 GB: 4 replicas of 2 GPUs" in err
    assert "the embedded gazetteer" in err
    assert "$GOOGLE_MAPS_API_KEY is set, but nothing uses it: --providers google" in err
    code, _, err = await geotts(
        "serve", "--profile", "thinking_with_map", "--gpus", "8x80", "--plan", "--providers", "google,amap",
        GOOGLE_MAPS_API_KEY="k", AMAP_API_KEY="k",
    )  # fmt: skip
    assert code == 0
    assert "tools: google, amap" in err
    assert "!" not in err


async def test_a_plan_names_every_key_that_is_missing(geotts):
    code, _, err = await geotts(
        "serve", "--profile", "thinking_with_map", "--gpus", "8x80", "--plan", "--providers", "google,amap"
    )
    assert code == 0
    assert "! $GOOGLE_MAPS_API_KEY is not set" in err
    assert "! $AMAP_API_KEY is not set" in err


async def test_a_service_is_not_begun_without_its_keys(geotts):
    code, _, err = await geotts(
        "serve", "--providers", "google,amap", "--port", str(free_port()), AMAP_API_KEY=" ",
    )  # fmt: skip
    assert code == 2
    assert "GOOGLE_MAPS_API_KEY" in err
    assert "AMAP_API_KEY" in err


@pytest.mark.parametrize(
    ("price", "words"),
    [
        ((), "money: a request should cost at most $0.5; the money limit cannot be kept: no price is known"),
        (("--set", "engine.price={input: 1, output: 2}"), "money: at most $0.5 a request"),
    ],
)
async def test_a_plan_says_whether_the_money_limit_can_be_kept(geotts, price, words):
    code, _, err = await geotts(
        "serve", "--profile", "hosted", "--endpoint", "http://127.0.0.1:9/v1", "--model", "o-thinking", "--plan", *price
    )
    assert code == 0
    assert words in err


async def test_a_model_that_does_not_fit_is_refused_with_the_gpus_that_would(geotts):
    code, _, err = await geotts("serve", "--profile", "thinking_with_map", "--gpus", "1x24", "--plan")
    assert code == 2
    assert "what would fit: 4 such GPUs" in err


async def test_a_larger_model_than_the_profiles_is_refused_with_its_own_size(geotts):
    code, _, err = await geotts(
        "serve", "--profile", "thinking_with_map", "--model", "Qwen/Qwen2.5-VL-72B-Instruct", "--gpus", "1x80", "--plan"
    )
    assert code == 2
    assert "146.8 GB of weights leave no room" in err
    assert "4 such GPUs (tensor parallel 4)" in err


async def test_without_a_gpu_and_without_gpus_named_the_plan_warns(geotts, tmp_path):
    code, _, err = await geotts("serve", "--profile", "thinking_with_map", "--plan", PATH=str(tmp_path))
    assert code == 0
    assert "GPUs:" not in err
    assert "! no GPU was found here, so none is reserved for the model: choose GPUs with --gpus" in err


async def test_the_gpus_of_the_machine_are_planned_with_when_none_are_named(geotts, tmp_path, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nprintf '0, GPU-aa, 81559\\n1, GPU-bb, 81559\\n'\n")
    tool.chmod(0o755)
    code, _, err = await geotts("serve", "--profile", "thinking_with_map", "--plan", PATH=str(tmp_path))
    assert code == 0
    assert "GPUs: 2 x 85.5 GB: 1 replica of 2 GPUs" in err
    assert "no GPU was found" not in err


async def test_a_key_that_no_tool_of_the_profile_uses_is_named_once(geotts):
    server = BY_NAME["sglang"]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        code, out, err = await geotts(
            "locate", PHOTO, PHOTO, "--json", "--profile", "generic", "--endpoint", endpoint.url, "--model",
            server.model, GOOGLE_MAPS_API_KEY="k",
        )  # fmt: skip
    assert (code, len(out.splitlines())) == (0, 2), err
    assert err.count("$GOOGLE_MAPS_API_KEY is set, but nothing uses it: --providers google") == 1


async def test_a_model_trained_with_live_maps_warns_in_its_answer_of_embedded_tools(geotts):
    server = BY_NAME["sglang"]
    async with serving(play_server(server, speaking("thinking_with_map")), server.pages) as endpoint:
        code, out, err = await geotts(
            "locate", PHOTO, "--json", "--profile", "thinking_with_map", "--endpoint", endpoint.url,
            "--model", server.model,
        )  # fmt: skip
    assert code == 0, err
    assert any("the embedded gazetteer" in warning for warning in json.loads(out)["answer"]["warnings"])


@pytest.mark.parametrize("example", ["locate_stream.py", "locate_folder.py", "openai_client.py"])
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "usage: python examples/"),
        (("nowhere.jpg",), 1, "nowhere.jpg"),
        ((PHOTO, "http://127.0.0.1:9"), 1, ""),
    ],
)
def test_an_example_that_cannot_run_explains_itself_in_one_line(example, arguments, code, words):
    if example == "locate_folder.py" and PHOTO in arguments:
        arguments = (str(SAMPLES), arguments[1])
    done = subprocess.run(
        [sys.executable, Path(__file__).parents[2] / "examples" / example, *arguments],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert words in done.stderr


async def test_the_usage_of_an_answer_includes_the_question_about_the_context(geotts):
    server = CuttingServer(32_768, speaking("generic"))
    async with serving(server.play, ollama_pages()) as endpoint:
        _, out, err = await geotts(
            "locate", PHOTO, "--json", "--profile", "small", "--endpoint", endpoint.url, "--model", "gemma3:4b",
            "--set", "engine.price={input: 100, output: 1000}",
        )  # fmt: skip
        asked = endpoint.bodies
    assert sum(map(is_canary, asked)) == 1, err
    read = sum(server.read_of(body) for body in asked)
    usage = json.loads(out)["answer"]["usage"]
    assert (usage["model_calls"], usage["prompt_tokens"]) == (len(asked), read)
    assert usage["completion_tokens"] == 5 * len(asked)
    assert usage["cost_usd"] == pytest.approx((read * 100 + 5 * len(asked) * 1000) / 1e6)
