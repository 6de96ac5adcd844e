"""An ONNX image encoder: a photo in, a vector of length 1 out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors
from PIL import Image

from tts.config.gallery import GalleryConfig
from tts.errors import ConfigError

Vector = npt.NDArray[np.float32]
_DEFAULT_SIDE_PX = 224
_ONNX_ERRORS = (  # they have no common class
    onnx_errors.Fail,
    onnx_errors.InvalidArgument,
    onnx_errors.InvalidGraph,
    onnx_errors.InvalidProtobuf,
    onnx_errors.NoSuchFile,
    onnx_errors.NotImplemented,
    onnx_errors.RuntimeException,
    ValueError,
)
_DEFAULT_OUTPUT = "image_embeds"  # what exports of CLIP's vision half call it


class ImageEncoder:
    """`dimensions` is the length of its vectors. Safe to call from several threads.

    Raises:
        ConfigError: at start, when the file is no image encoder.
    """

    def __init__(self, config: GalleryConfig) -> None:
        self._config = config
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(
                str(config.encoder), options, providers=["CPUExecutionProvider"]
            )
        except _ONNX_ERRORS as error:
            raise ConfigError(f"gallery.encoder: {config.encoder} is no ONNX model: {error}") from error
        self._input = self._picture_input()
        self._side = config.side or _side_of(self._input.shape)
        self._output = self._vector_output()
        blank = Image.new("RGB", (self._side, self._side))
        self.dimensions = len(self._run_encoder(blank))

    def encode(self, picture: Image.Image) -> Vector:
        """(dimensions,) of length 1. About 0.1 s for a ViT-B on one core.

        Raises ConfigError where the encoder gives no number or nothing but zeros.
        """
        vector = self._run_encoder(picture)
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or length == 0.0:
            raise ConfigError(f"gallery.encoder: {self._config.encoder} gives no direction for a photo")
        return vector / np.float32(length)

    def _run_encoder(self, picture: Image.Image) -> Vector:
        pixels = self._prepare_picture(picture)[None].astype(_number_type(self._input.type))
        try:
            (found,) = self._session.run([self._output], {self._input.name: pixels})
        except _ONNX_ERRORS as error:
            raise ConfigError(f"gallery.encoder: {self._config.encoder} takes no photo: {error}") from error
        vector: Vector = np.asarray(found, dtype=np.float32)
        if vector.ndim != 2 or vector.shape[0] != 1:
            raise ConfigError(f"gallery.encoder: output {self._output} is {vector.shape}, not one vector: name another")
        return vector.reshape(-1)

    def _prepare_picture(self, picture: Image.Image) -> npt.NDArray[np.float32]:
        """(3, side, side), normalised."""
        side = self._side
        image = picture.convert("RGB")
        if self._config.fit == "crop":
            scale = side / min(image.size)
            width, height = (max(side, round(length * scale)) for length in image.size)
            image = image.resize((width, height), Image.Resampling.BICUBIC)
            left, top = (width - side) // 2, (height - side) // 2
            image = image.crop((left, top, left + side, top + side))
        else:
            image = image.resize((side, side), Image.Resampling.BICUBIC)
        values = np.asarray(image, dtype=np.float32) / np.float32(255)
        mean, std = (np.asarray(three, dtype=np.float32) for three in (self._config.mean, self._config.std))
        return np.ascontiguousarray(((values - mean) / std).transpose(2, 0, 1))

    def _picture_input(self) -> Any:
        """The one input with four dimensions and three channels."""
        found = [put for put in self._session.get_inputs() if len(put.shape) == 4 and put.shape[1] in (3, None, "3")]
        found = found or [put for put in self._session.get_inputs() if len(put.shape) == 4]
        if len(found) != 1 or len(self._session.get_inputs()) != 1:
            names = ", ".join(put.name for put in self._session.get_inputs())
            raise ConfigError(
                f"gallery.encoder: {self._config.encoder} takes {names}, not one picture: export the image half alone"
            )
        return found[0]

    def _vector_output(self) -> str:
        names = [out.name for out in self._session.get_outputs()]
        wanted = self._config.output or (_DEFAULT_OUTPUT if _DEFAULT_OUTPUT in names else names[0])
        if wanted not in names:
            raise ConfigError(f"gallery.output: the encoder has no {wanted}; there are: {', '.join(names)}")
        return wanted


def _side_of(shape: list[Any]) -> int:
    return shape[2] if isinstance(shape[2], int) and shape[2] > 0 else _DEFAULT_SIDE_PX


def _number_type(name: str) -> type[np.floating[Any]]:
    return np.float16 if "float16" in name else np.float32
