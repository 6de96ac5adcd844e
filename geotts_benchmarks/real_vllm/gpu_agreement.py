"""Whether the engine's first tokens are those of the model on the CPU in fp32: for `scripts/gpu-check`.

python -m geotts_benchmarks.real_vllm.gpu_agreement [--model FOLDER]

The reference is transformers on the CPU, with the same weights, the same token ids and the same pixels. Without a model
the weights are random and small; what is compared is the computation, text and picture, and not what the model says.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from PIL import Image

from geotts_benchmarks.harness import Result, print_progress, report
from geotts_benchmarks.real_vllm.engine_runs import a_photo, cpu_options
from geotts_benchmarks.real_vllm.random_weights import Shape, write_checkpoint
from geotts_benchmarks.real_vllm.reference_model import ReferenceModel, write_random_weights
from tts.config import VllmEngine
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.domain.messages import Message, text_message
from tts.domain.photo import Photo
from tts.domain.request import RequestContext
from tts.inference.token_prompts import TokenPrompts
from tts.inference.vllm.content_pictures import ContentPictures
from tts.inference.vllm.seam import Generation, VllmSeam, has_cuda
from tts.ports.model_client import ModelRequest, Sampling

_TOP_K = 5
_MIN_OVERLAP = 4
_PROMPT_TEXTS = (
    "Where was this photo taken?",
    "The sign says Rue de Rivoli. Which city is it?",
    "Name a country with right-hand traffic.",
    "Answer with coordinates only.",
)
_PICTURE_SIZES = ((512, 384), (640, 480), (320, 320), (800, 448))


@click.command()
@click.option(
    "--model", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of a Qwen-VL checkpoint."
)
def main(model: Path | None) -> None:
    """Compare the five likeliest first tokens of eight prompts, half of them with a picture."""
    report("gpu_agreement", lambda: measure(model))


def measure(model: Path | None) -> Result:
    """`overlap` by prompt, out of 5; `agrees` when none is below 4."""
    with _checkpoint_folder(model) as folder:
        options: dict[str, Any] = {"max_model_len": 4096} if has_cuda() else cpu_options()
        seam = VllmSeam(VllmEngine(model=str(folder), dtype="float32", max_running=4, **_without_max_running(options)))
        try:
            prompts = asyncio.run(_engine_side(seam))
        finally:
            seam.close()
        reference = ReferenceModel(folder)
        overlap = [len(set(top) & set(reference.likeliest(ids, picture, _TOP_K))) for ids, picture, top in prompts]
    print_progress(f"of the five likeliest first tokens agree: {overlap}")
    return {"overlap": overlap, "least": min(overlap), "agrees": min(overlap) >= _MIN_OVERLAP, "device": _device()}


def _without_max_running(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "max_running"}


def _device() -> str:
    return "cuda" if has_cuda() else "cpu"


@contextmanager
def _checkpoint_folder(model: Path | None) -> Iterator[Path]:
    """The folder of a model; one with random weights on disk where none is given."""
    if model is not None:
        yield model
        return
    with tempfile.TemporaryDirectory() as name:
        folder = write_checkpoint(Path(name), Shape.TINY_QWEN25_VL, "\n".join([*_PROMPT_TEXTS, *_opening_texts()]))
        write_random_weights(folder, seed=7)
        yield folder


def _opening_texts() -> list[str]:
    return [message.text for message in GenericDialect().opening(Task(photos=()))]


def _prompts() -> Iterator[tuple[tuple[Message, ...], Photo | None]]:
    for text in _PROMPT_TEXTS:
        yield (text_message("user", text),), None
    for size in _PICTURE_SIZES:
        photo = a_photo(*size)
        yield tuple(GenericDialect().opening(Task(photos=(photo,)))), photo


async def _engine_side(seam: VllmSeam) -> list[tuple[list[int], Image.Image | None, tuple[int, ...]]]:
    """For each prompt: token ids, the picture as the engine got it, and the ids of its five likeliest first tokens."""
    found = []
    for number, (messages, photo) in enumerate(_prompts()):
        request = ModelRequest(
            context=RequestContext(id=f"agree{number}", remaining_s=600.0),
            session_id=f"agree{number}/0",
            messages=messages,
            sampling=Sampling(temperature=0.0, max_tokens=1, logprobs=_TOP_K),
            photos=() if photo is None else (photo,),
        )
        prompt = TokenPrompts(seam.tokenizer).prompt(request.session_id, request.messages, ())
        pictures = await ContentPictures().pictures_of(request, prompt.images)
        generation = Generation(
            id=request.session_id,
            token_ids=prompt.token_ids,
            pictures=pictures,
            sampling=request.sampling,
            json_schema=None,
            priority=0,
            lora=None,
        )
        likeliest = [piece.likeliest[0] async for piece in seam.generate(generation) if piece.likeliest]
        found.append((list(prompt.token_ids), pictures[0].image if pictures else None, likeliest[0][:_TOP_K]))
    return found


if __name__ == "__main__":
    main()
