"""A picture goes to vLLM once; later turns and other rollouts send its name, and the bytes that were sent show it."""

import pytest
from support.basics import a_context, sign_bytes
from support.chat_servers import BY_NAME, Turn, play_server
from support.chat_speakers import speaking
from support.endpoint import serving
from support.naming_server import PAGES, NamingServer, picture_parts

from tts.config import OpenAIEngine
from tts.dialects import DIALECTS
from tts.dialects.base import Task
from tts.domain.messages import ImagePart, Message, text_message
from tts.domain.photo import Box
from tts.domain.photo_cleaning import load_photo
from tts.domain.tooling import ImageRef
from tts.errors import ModelError
from tts.inference.openai.engine import OpenAIModel
from tts.ports.model_client import ModelRequest, Sampling


def reply_of_model(body):
    return Turn(text="It is in Japan.")


def conversation(photo, turns=0, boxes=()):
    """An opening with a photo, and later turns; each box is a zoomed region that was shown."""
    messages = list(DIALECTS["generic"].opening(Task(photos=(photo,))))
    for _ in range(turns):
        messages += [text_message("assistant", "Hm."), text_message("user", "Go on.")]
    for box in boxes:
        ref = ImageRef(sha256=photo.sha256, width=photo.width // 2, height=photo.height // 2, box=box)
        messages.append(Message(role="user", parts=(ImagePart(image=ref),)))
    return ModelRequest(a_context(), "loc_test/0", tuple(messages), Sampling(max_tokens=64), photos=(photo,))


async def bytes_of(model, request):
    return [delta async for delta in model.generate(request)][-1].usage.bytes_sent


async def asked_of(server, *requests, pages=PAGES, model="qwen3-vl", play=None, **config):
    """(bytes of each request, the endpoint)."""
    async with serving(play or server.play, pages) as endpoint:
        client = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model=model, backoff_s=0.01, **config))
        try:
            sizes = [await bytes_of(client, request) for request in requests]
        finally:
            await client.aclose()
    return sizes, endpoint, client


async def test_a_photo_goes_to_vllm_once(sign_photo):
    server = NamingServer(reply_of_model)
    sizes, endpoint, _ = await asked_of(server, *(conversation(sign_photo, turn) for turn in range(3)))
    assert sizes[0] > 20_000
    assert max(sizes[1:]) < 8_000
    assert server.refused == 0
    assert len({shown for (shown,) in server.seen}) == 1
    assert [part["image_url"] is None for body in endpoint.bodies for part in picture_parts(body)] == [
        False,
        True,
        True,
    ]


async def test_the_model_gets_the_same_pictures_by_name_as_inline(sign_photo):
    """Photo and two regions, each under a name of its own."""
    boxes = (Box(x0=0, y0=0, x1=0.5, y1=0.5), Box(x0=0.5, y0=0.5, x1=1, y1=1))
    requests = [conversation(sign_photo, 0, boxes[:n]) for n in range(3)]
    by_name, inline = NamingServer(reply_of_model), NamingServer(reply_of_model)
    few, _, _ = await asked_of(by_name, *requests)
    many, endpoint, _ = await asked_of(inline, *requests, pictures="inline")
    assert by_name.seen == inline.seen
    assert not any("uuid" in part for body in endpoint.bodies for part in picture_parts(body))
    assert few[2] < many[2] / 2


async def test_a_picture_that_the_cache_has_forgotten_is_sent_again(sign_photo):
    server = NamingServer(reply_of_model)

    def play(body, number):
        if number == 2:
            server.pictures.clear()
        return server.play(body, number)

    sizes, _, client = await asked_of(server, *(conversation(sign_photo, turn) for turn in range(4)), play=play)
    assert [size > 20_000 for size in sizes] == [True, False, True, False]
    assert server.refused == 1
    assert client.traits.pictures == "uuid"


async def test_a_server_that_knows_no_names_gets_pictures_whole_in_the_end(sign_photo):
    server = NamingServer(reply_of_model, room=0)
    sizes, _, client = await asked_of(server, *(conversation(sign_photo, turn) for turn in range(6)))
    assert min(sizes) > 20_000
    assert server.refused == 3
    assert client.traits.pictures == "inline"


async def test_two_photos_have_two_names(sign_photo):
    server = NamingServer(reply_of_model)
    other = load_photo(sign_bytes("Otaru", "Minato"))
    await asked_of(server, conversation(sign_photo), conversation(other), conversation(sign_photo, 1))
    assert len(server.pictures) == 2
    assert server.seen[0] == server.seen[2] != server.seen[1]


async def test_servers_other_than_vllm_get_pictures_inline(sign_photo):
    for name in ("openai-chat", "sglang", "lm-studio"):
        server = BY_NAME[name]
        sizes, _, _ = await asked_of(
            server, *(conversation(sign_photo, turn) for turn in range(2)),
            pages=server.pages, model=server.model, play=play_server(server, speaking("generic")),
        )  # fmt: skip
        assert min(sizes) > 20_000


async def test_a_refusal_for_another_reason_stays_what_it_is(sign_photo):
    server = NamingServer(reply_of_model)

    def play(body, number):
        return BY_NAME["llama-server"].refuse({**body, "tools": []}) if number else server.play(body, number)

    with pytest.raises(ModelError, match="jinja"):
        await asked_of(server, conversation(sign_photo), conversation(sign_photo, 1), play=play, retries=0)
