"""An endpoint that drops the beginning of a prompt is found out by name, before the photo is sent where it can be."""

import pytest
from support.basics import a_context
from support.chat_servers import listing, pictures_in
from support.chat_speakers import speaking
from support.cutting_server import CuttingServer, is_canary, ollama_pages
from support.endpoint import Reply, serving

from tts.aio import Deadline
from tts.config import OpenAIEngine
from tts.dialects import DIALECTS
from tts.dialects.base import Task
from tts.errors import ModelError
from tts.inference.openai.engine import OpenAIModel
from tts.ports.model_client import ModelRequest, Sampling

UNKNOWN = {"/v1/models": listing({"id": "gemma3:4b", "owned_by": "somebody"})}
LM_STUDIO = {"/v1/models": listing({"id": "gemma3:4b", "owned_by": "organization_owner"})}


async def generate(model, photo, session="loc_test/0"):
    opening = DIALECTS["generic"].opening(Task(photos=(photo,)))
    request = ModelRequest(a_context(), session, opening, Sampling(max_tokens=800), photos=(photo,))
    return "".join([delta.text async for delta in model.generate(request)])


async def asked_of(server, pages, photo, times=1):
    """(texts or the error, bodies that the server saw)."""
    async with serving(server.play, pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model="gemma3:4b", backoff_s=0.01))
        outcome: list[str] | ModelError
        try:
            outcome = [await generate(model, photo, f"loc_test/{i}") for i in range(times)]
        except ModelError as error:
            outcome = error
        await model.aclose()
    return outcome, endpoint.bodies


async def test_ollama_that_cuts_is_found_out_before_the_photo_is_sent(sign_photo):
    server = CuttingServer(1024, speaking("generic"))
    error, bodies = await asked_of(server, ollama_pages(), sign_photo)
    assert (
        "the endpoint read 512 tokens of a conversation with at least 2048: the first words were lost" in error.detail
    )
    assert "OLLAMA_CONTEXT_LENGTH=16384 ollama serve, or num_ctx in the Modelfile" in error.detail
    assert error.fields["about"] == "context"
    assert [pictures_in(body) for body in bodies] == [0]


async def test_an_endpoint_with_a_sufficient_context_is_asked_about_it_once(sign_photo):
    texts, bodies = await asked_of(CuttingServer(8192, speaking("generic")), ollama_pages(), sign_photo, times=3)
    assert all("Japan" in text for text in texts)
    assert [is_canary(body) for body in bodies] == [True, False, False, False]


async def test_a_context_that_the_server_reports_needs_no_question(sign_photo):
    texts, bodies = await asked_of(
        CuttingServer(8192, speaking("generic")), ollama_pages(context_length=8192), sign_photo
    )
    assert "Japan" in texts[0]
    assert not any(map(is_canary, bodies))


async def test_an_endpoint_found_to_cut_prompts_gets_no_further_question_for_a_minute(sign_photo):
    async with serving(CuttingServer(1024, speaking("generic")).play, ollama_pages()) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model="gemma3:4b"))
        for i in range(3):
            with pytest.raises(ModelError, match="the first words were lost"):
                await generate(model, sign_photo, f"loc_test/{i}")
        await model.aclose()
    assert len(endpoint.bodies) == 1


async def test_the_error_names_the_context_setting_of_the_server_in_use(sign_photo):
    error, _ = await asked_of(CuttingServer(1024, speaking("generic")), LM_STUDIO, sign_photo)
    assert "LM Studio: context length of the loaded model" in error.detail
    assert "OLLAMA" not in error.detail


async def test_a_server_without_a_token_count_is_tested_with_repeated_numbers(sign_photo):
    """It repeats the number of a short prompt, and not that of the long one."""
    error, bodies = await asked_of(CuttingServer(1024, speaking("generic"), counts=False), ollama_pages(), sign_photo)
    assert "the endpoint read only the end of a conversation" in error.detail
    assert list(map(is_canary, bodies)) == [True, True]


async def test_a_model_that_cannot_repeat_a_number_is_not_taken_for_a_cut_prompt(sign_photo):
    server = CuttingServer(8192, speaking("generic"), counts=False, repeats=False)
    texts, bodies = await asked_of(server, ollama_pages(), sign_photo, times=2)
    assert all("Japan" in text for text in texts)
    assert list(map(is_canary, bodies)) == [True, True, False, False]


async def test_an_unknown_server_that_counts_too_few_tokens_is_asked(sign_photo):
    error, bodies = await asked_of(CuttingServer(64, speaking("generic")), UNKNOWN, sign_photo)
    assert "the first words were lost" in error.detail
    assert "Ollama OLLAMA_CONTEXT_LENGTH" in error.detail
    assert list(map(is_canary, bodies)) == [False, True]


async def test_an_unknown_server_that_leaves_out_what_it_had_cached_is_believed(sign_photo):
    server = CuttingServer(8192, speaking("generic"), counted_of=0.1)
    texts, bodies = await asked_of(server, UNKNOWN, sign_photo, times=3)
    assert all("Japan" in text for text in texts)
    assert list(map(is_canary, bodies)) == [False, True, False, False]


async def test_a_server_that_refuses_the_question_with_an_error_cuts_no_prompt(sign_photo):
    error = {"error": {"message": "request (2048 tokens) exceeds the available context size (1024 tokens)"}}

    def play(body, number):
        return Reply(400, error) if is_canary(body) else CuttingServer(8192, speaking("generic")).play(body, number)

    async with serving(play, UNKNOWN) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model="gemma3:4b"))
        outcome = await model.check_context(2048, Deadline(10))
        await model.aclose()
    assert (outcome.state, outcome.words) == ("refused", 2048)
    assert "1024 tokens" in outcome.message
