"""L_visual: how locatable the pictured classes are, by a MaskFormer segmentation over the 150 classes of ADE20K.

L_visual = Σ (area share of class c) · (published weight of c). Whoever configures this brings the weights of
the network (`segmentation_model`: a folder or a name) and the `segmentation` extra; torch is imported only then. The
score describes what is pictured and never decides depth by itself.
"""

from __future__ import annotations

import asyncio
import importlib.resources
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from tts.domain.geo import Floats
from tts.domain.photo import Photo
from tts.domain.plan import Locatability
from tts.domain.request import RequestContext
from tts.errors import ConfigError
from tts.ports.locator import Locator, Routing
from tts.routing.predictor import DepthPredictor

CLASSES = 150
_SIDE_PX = 512
_MEAN = (0.485, 0.456, 0.406)
_STD = (0.229, 0.224, 0.225)
_MAX_NAMED = 3


def class_weights() -> tuple[tuple[str, ...], Floats]:
    """Names and weights of the classes, in the order of the checkpoints."""
    file = importlib.resources.files("tts").joinpath("data/routing/ade20k_weights.json")
    data = orjson.loads(file.read_bytes())
    return tuple(data["names"]), np.array(data["weights"], dtype=np.float64)


def area_shares(segmentation: npt.NDArray[np.integer[Any]]) -> Floats:
    """(150,) shares of the area; pixels without a class count to the whole and to no class."""
    known = segmentation[(segmentation >= 0) & (segmentation < CLASSES)]
    return np.asarray(np.bincount(known.ravel(), minlength=CLASSES) / segmentation.size)


def visual_rating(segmentation: npt.NDArray[np.integer[Any]]) -> Locatability:
    """L_visual of one segmentation with its three largest parts."""
    names, weights = class_weights()
    terms = area_shares(segmentation) * weights
    largest = [int(i) for i in np.argsort(-terms)[:_MAX_NAMED] if terms[i] > 0]
    score = round(float(terms.sum()), 4)
    largest_classes = ", ".join(f"{names[i]} {terms[i]:.2f}" for i in largest) or "nothing typical of a place"
    parts = {"visual": score, **{f"class_{names[i]}": round(float(terms[i]), 4) for i in largest}}
    return Locatability(score=min(1.0, score), method="visual", parts=parts, why=f"kinds of surface: {largest_classes}")


class Segmenter:
    """A MaskFormer checkpoint on `device` (torch's name). `segment` takes several photos in one batch.

    Raises:
        ConfigError: without torch and transformers, or on a GPU that torch does not see.
    """

    def __init__(self, model: str, device: str = "cpu") -> None:
        try:
            import torch  # noqa: PLC0415  optional: the `segmentation` extra
            from transformers import MaskFormerForInstanceSegmentation  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise ConfigError(f"visual locatability needs {error.name}: pip install 'geotts[segmentation]'") from error
        if device != "cpu" and not torch.cuda.is_available():
            raise ConfigError(
                "deployments.locatability.num_gpus asks for a GPU, and torch sees none here: "
                "install a torch with CUDA, or set num_gpus to 0"
            )
        self._torch = torch
        self._device = device
        self._model = MaskFormerForInstanceSegmentation.from_pretrained(model).eval().to(device)

    def segment(self, photos: Sequence[Photo]) -> list[npt.NDArray[np.integer[Any]]]:
        """A (side, side) map of class indices for every photo."""
        torch = self._torch
        batch = torch.from_numpy(np.stack([_pixels(photo) for photo in photos])).to(self._device)
        with torch.inference_mode():
            out = self._model(pixel_values=batch)
            classes = out.class_queries_logits.softmax(dim=-1)[..., :-1]
            masks = out.masks_queries_logits.sigmoid()
            scores = torch.einsum("bqc,bqhw->bchw", classes, masks)
        return [np.asarray(one.cpu().numpy(), dtype=np.int64) for one in scores.argmax(dim=1)]


@dataclass(frozen=True, eq=False)
class VisualLocator:
    """Another locator's rating with L_visual as one more part; alone it rates what is pictured."""

    segmenter: Segmenter
    beside: Locator | None = None
    predictor: DepthPredictor | None = None

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        """Takes L_visual from the photo that has most of it. The segmentation runs in a thread."""
        maps = await asyncio.to_thread(self.segmenter.segment, photos)
        visual = max((visual_rating(one) for one in maps), key=lambda rating: rating.score)
        if self.beside is None:
            return Routing(locatability=visual)
        routing = await self.beside.rate(photos, context)
        other = routing.locatability
        parts, why = {**other.parts, **visual.parts}, f"{other.why}; {visual.why}"
        rated = other.model_copy(update={"method": "visual", "parts": parts, "why": why})
        return Routing(self.predictor.refine(rated) if self.predictor else rated, routing.readings)


def _pixels(photo: Photo) -> npt.NDArray[np.float32]:
    picture = photo.image().convert("RGB").resize((_SIDE_PX, _SIDE_PX))
    scaled = np.asarray(picture, dtype=np.float32) / 255.0
    return np.ascontiguousarray(
        ((scaled - np.array(_MEAN, dtype=np.float32)) / np.array(_STD, dtype=np.float32)).transpose(2, 0, 1)
    )
