"""A model of the Qwen-VL family by transformers on the CPU in fp32: what an engine is compared with.

Needs torch and transformers, which come with vLLM.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

_PATCHES_PER_TOKEN = 4  # patches of a picture that become one token


def write_random_weights(folder: Path, *, seed: int) -> None:
    """Random weights in fp32 for a checkpoint that has none (`write_checkpoint`); its configuration says fp32 then."""
    import torch  # noqa: PLC0415  optional: vLLM brings it
    from transformers import AutoConfig, AutoModelForImageTextToText  # noqa: PLC0415

    config = folder / "config.json"
    written = config.read_text().replace('"bfloat16"', '"float32"')
    torch.manual_seed(seed)
    model = AutoModelForImageTextToText.from_config(AutoConfig.from_pretrained(folder), dtype=torch.float32)
    model.save_pretrained(folder)
    config.write_text(written)


class ReferenceModel:
    """Loaded once. `folder` is a checkpoint with weights."""

    def __init__(self, folder: Path) -> None:
        import torch  # noqa: PLC0415  optional: vLLM brings it
        from transformers import AutoImageProcessor, AutoModelForImageTextToText  # noqa: PLC0415

        self._torch = torch
        self._model: Any = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
        self._pixels: Any = AutoImageProcessor.from_pretrained(folder)

    def likeliest(self, token_ids: Sequence[int], picture: Image.Image | None, count: int) -> list[int]:
        """Ids of the likeliest next tokens, the best first. One token of the prompt stands for the picture."""
        ids, pixels = list(token_ids), {}
        if picture is not None:
            pixels = dict(self._pixels(images=[picture.convert("RGB")], return_tensors="pt"))
            at, room = ids.index(self._image_token()), int(pixels["image_grid_thw"].prod()) // _PATCHES_PER_TOKEN
            ids[at : at + 1] = [self._image_token()] * room
        tokens = self._torch.tensor([ids])
        pixels |= {"mm_token_type_ids": (tokens == self._image_token()).int()} if pixels else {}
        with self._torch.no_grad():
            found = self._model(input_ids=tokens, attention_mask=self._torch.ones_like(tokens), **pixels)
        return [int(token) for token in found.logits[0, -1].topk(count).indices]

    def _image_token(self) -> int:
        return int(self._model.config.image_token_id)
