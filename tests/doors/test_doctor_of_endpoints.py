"""`geotts doctor --profile … --endpoint …` as a user types it: what it says of the context of the endpoint."""

import re

import pytest
from support.chat_servers import BY_NAME, play_server
from support.chat_speakers import speaking
from support.cutting_server import CuttingServer, is_canary, ollama_pages
from support.endpoint import serving
from support.geotts_process import geotts
from support.ports import free_port


async def doctor(play, pages, model, *more):
    async with serving(play, pages) as endpoint:
        code, out, err = await geotts(
            "doctor", "--profile", "small", "--endpoint", endpoint.url, "--model", model,
            "--set", f"gateway.port={free_port()}", *more,
        )  # fmt: skip
    return code, out + err, endpoint.bodies


async def test_an_ollama_that_cuts_is_a_problem_with_the_setting_that_mends_it(data_store):
    server = CuttingServer(1024, speaking("generic"))
    code, output, bodies = await doctor(server.play, ollama_pages(), "gemma3:4b")
    assert code == 1
    assert "the first words were lost: it read 512 of at least" in output
    assert "OLLAMA_CONTEXT_LENGTH=16384 ollama serve, or num_ctx in the Modelfile" in output
    assert list(map(is_canary, bodies)) == [True]


async def test_an_ollama_that_reports_a_short_context_is_a_problem(data_store):
    server = CuttingServer(8192, speaking("generic"))
    code, output, _ = await doctor(server.play, ollama_pages(context_length=1024), "gemma3:4b")
    assert code == 1
    assert "1024 tokens (ollama)" in output
    assert "the first turn of this profile takes about" in output


async def test_an_ollama_that_reads_the_whole_prompt_is_no_problem(data_store):
    server = CuttingServer(8192, speaking("generic"))
    code, output, _ = await doctor(server.play, ollama_pages(), "gemma3:4b")
    assert code == 0
    assert "words was read from its first word (ollama)" in output


@pytest.mark.parametrize(
    ("name", "context"), [("vllm", "16384 tokens; longer prompts"), ("openai-chat", "not stated; longer prompts")]
)
async def test_a_server_known_to_refuse_long_prompts_with_an_error_is_not_probed(data_store, name, context):
    server = BY_NAME[name]
    code, output, bodies = await doctor(play_server(server, speaking("generic")), server.pages, server.model)
    assert code == 0
    assert f"{context} are refused with an error" in output
    assert not bodies


async def doctor_without_server(profile, *more, **environment):
    """The command without a server."""
    code, out, err = await geotts(
        "doctor", "--profile", profile, "--set", f"gateway.port={free_port()}", *more, **environment
    )
    return code, out + err


@pytest.mark.parametrize("profile", ["hosted", "small"])
async def test_a_profile_of_somebody_elses_model_misses_its_endpoint(data_store, profile):
    code, output = await doctor_without_server(profile)
    assert code == 1
    assert f"endpoint  none is named, and the profile {profile} needs one" in output
    assert "vllm serve" not in output


async def test_the_doctor_reports_the_key_and_the_price_of_an_endpoint(data_store):
    dead = ("--endpoint", "http://127.0.0.1:9/v1", "--model", "o-thinking")
    code, output = await doctor_without_server("hosted", *dead, OPENAI_API_KEY="")
    assert code == 1
    assert "key of the endpoint  $OPENAI_API_KEY is not set" in output
    assert "price of the model  none is known for o-thinking" in output
    assert "means: the limit of $0.5 a request cannot be kept" in output
    assert "vllm serve" not in output
    price = ("--set", "engine.price={input: 1.5, output: 6}")
    _, output = await doctor_without_server("hosted", *dead, *price, OPENAI_API_KEY="sk-secret")
    assert "key of the endpoint  $OPENAI_API_KEY is set" in output
    assert "price of the model  $1.5 a million tokens read, $6 written" in output
    assert "sk-secret" not in output


async def test_the_tools_of_a_profile_are_those_that_its_model_is_offered(data_store):
    _, output = await doctor_without_server("small")
    assert "tools  country_at, image_zoom, poi_keyword_search, read_text (4 of 10: request_defaults.tools)" in output


async def test_every_missing_key_of_a_provider_is_named_beside_the_other_findings(data_store):
    code, output = await doctor_without_server(
        "thinking_with_map", "--providers", "google,amap,serper", SERPER_API_KEY="k"
    )
    assert code == 1
    assert "$GOOGLE_MAPS_API_KEY is not set" in output
    assert "$AMAP_API_KEY is not set" in output
    assert "$SERPER_API_KEY" not in output
    assert "limits  8 turns" in output


async def size_of_first_turn(*more):
    server = CuttingServer(8192, speaking("generic"))
    _, output, _ = await doctor(server.play, ollama_pages(context_length=1024), "gemma3:4b", *more)
    tokens = re.search(r"the first turn of this profile takes about (\d+)", output)
    assert tokens is not None, output
    return int(tokens[1])


async def test_the_first_turn_is_counted_with_the_tools_that_are_sent_with_it(data_store):
    least = await size_of_first_turn("--set", "request_defaults.tools=[read_text]")
    small = await size_of_first_turn()
    everything = await size_of_first_turn("--set", "request_defaults.tools=null")
    assert least < small < everything


async def test_the_doctor_reports_the_cost_of_the_question_about_the_context(data_store):
    server = CuttingServer(8192, speaking("generic"))
    price = ("--set", "engine.price={input: 100, output: 1000}")
    code, output, (question,) = await doctor(server.play, ollama_pages(), "gemma3:4b", *price)
    read = len(question["messages"][0]["content"].split())
    assert code == 0
    assert f"to find out took {read + 5} tokens, ${(read * 100 + 5 * 1000) / 1e6:.6f}".rstrip("0") in output
