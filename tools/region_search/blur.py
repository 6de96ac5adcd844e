"""Blurs what the operator's detector finds (faces, number plates) in a picture before it is sent.

The detector is an ONNX model with one input and one output, as Ultralytics' `export(format="onnx", nms=True)` and other
end-to-end exports write it:

* input: float32 [1, 3, H, W], RGB from 0 to 1. The picture is scaled to fit, kept in proportion, at the top left; the
  rest is grey (114). Where the model leaves H and W open, both are 640.
* first output: float32 [1, N, 6] or [N, 6], a row each: x0, y0, x1, y1 in pixels of the input, score, class.

A detector that cannot be run, or whose output is none of these, hides nothing, so nothing leaves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from PIL import Image, ImageFilter

from tts.config import BlurConfig
from tts.errors import ConfigError, GeoTTSError, ToolError, ToolErrorKind, boundary

_DEFAULT_SIDE_PX = 640
_PADDING_COLOUR = (114, 114, 114)
_BOX_MARGIN = 0.15  # of a side, on each side: detectors cut chins and the ends of plates
_BLUR_CELLS = 4  # what is hidden keeps so many colours across and down, and no more
_OUTPUT_COLUMNS = 6
Floats = npt.NDArray[np.float32]


class DetectorFailed(GeoTTSError):
    """The detector did not say what is to be hidden."""

    code = "detector-failed"


class Blur:
    """Called with a picture, gives the picture with every detection blurred. CPU-bound: call it in a thread.

    Args:
        config: the model of the detector, its lowest score and its classes.

    Raises:
        ConfigError: the model cannot be read, or does not do what a detector has to.
    """

    def __init__(self, config: BlurConfig) -> None:
        self._config = config
        path = Path(config.model).expanduser()
        if not path.is_file():
            raise ConfigError(f"tools.region_search.blur.model: there is no file {path}")
        try:
            with boundary(DetectorFailed, "the detector"):
                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = 1
                options.inter_op_num_threads = 1
                self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
                self._name, self._size = _input_of(self._session)
                self._find_boxes(Image.new("RGB", (64, 64), _PADDING_COLOUR))
        except DetectorFailed as error:
            raise ConfigError(f"tools.region_search.blur.model is no detector we can run: {error.detail}") from error

    def __call__(self, picture: Image.Image) -> Image.Image:
        """Blur every detection of a picture.

        Args:
            picture: a region of a photo. It is not changed.

        Returns:
            A copy in which the detections are blurred.

        Raises:
            ToolError: UNAVAILABLE, the detector fails.
        """
        try:
            with boundary(DetectorFailed, "the detector"):
                boxes = self._find_boxes(picture)
        except DetectorFailed as error:
            raise ToolError(
                f"the region was not sent: what has to be hidden in it could not be found ({error.detail})",
                kind=ToolErrorKind.UNAVAILABLE,
            ) from error
        hidden = picture.copy()
        for box in boxes:
            _blur_box(hidden, box)
        return hidden

    def _find_boxes(self, picture: Image.Image) -> list[tuple[int, int, int, int]]:
        """In pixels of the picture, with a margin. Raises DetectorFailed."""
        wide, high = self._size
        scale = min(wide / picture.width, high / picture.height)
        inside = (max(1, int(picture.width * scale)), max(1, int(picture.height * scale)))
        canvas = Image.new("RGB", self._size, _PADDING_COLOUR)
        canvas.paste(picture.resize(inside, Image.Resampling.BILINEAR), (0, 0))
        pixels = np.asarray(canvas, dtype=np.float32).transpose(2, 0, 1)[None] / np.float32(255.0)
        rows = _read_detections(self._session.run(None, {self._name: pixels})[0])
        kept = [row for row in rows if row[4] >= self._config.min_score and self._is_blurred_class(int(row[5]))]
        return [_box_in_picture(row, inside, picture.size) for row in kept]

    def _is_blurred_class(self, class_: int) -> bool:
        return self._config.classes is None or class_ in self._config.classes


def _input_of(session: Any) -> tuple[str, tuple[int, int]]:
    """Name, and width and height in pixels. Raises DetectorFailed."""
    inputs = session.get_inputs()
    shape = inputs[0].shape if len(inputs) == 1 else []
    if len(shape) != 4 or inputs[0].type != "tensor(float)":
        raise DetectorFailed("it needs one input, float32 [1, 3, H, W]")
    high, wide = (side if isinstance(side, int) else _DEFAULT_SIDE_PX for side in shape[2:])
    return str(inputs[0].name), (wide, high)


def _read_detections(output: Any) -> Floats:
    """Detections, a row each. Raises DetectorFailed for any other shape, and for numbers that are none."""
    found = np.asarray(output, dtype=np.float32)
    if found.ndim == 3 and found.shape[0] == 1:
        found = found[0]
    if found.ndim != 2 or found.shape[1] != _OUTPUT_COLUMNS:
        raise DetectorFailed(f"its output is {list(np.shape(output))}, not [1, N, 6]")
    if not np.isfinite(found).all():
        raise DetectorFailed("its output is not finite")
    return found


def _box_in_picture(row: Floats, inside: tuple[int, int], size: tuple[int, int]) -> tuple[int, int, int, int]:
    across, down = size[0] / inside[0], size[1] / inside[1]
    x0, x1 = sorted((float(row[0]) * across, float(row[2]) * across))
    y0, y1 = sorted((float(row[1]) * down, float(row[3]) * down))
    aside, above = _BOX_MARGIN * (x1 - x0), _BOX_MARGIN * (y1 - y0)
    left, top = max(0, int(x0 - aside)), max(0, int(y0 - above))
    return left, top, min(size[0], int(x1 + aside) + 1), min(size[1], int(y1 + above) + 1)


def _blur_box(picture: Image.Image, box: tuple[int, int, int, int]) -> None:
    """A few averages in the place of the pixels: there is no way back from them."""
    left, top, right, bottom = box
    if right <= left or bottom <= top:
        return
    part = picture.crop(box)
    few = part.resize((min(_BLUR_CELLS, part.width), min(_BLUR_CELLS, part.height)), Image.Resampling.BOX)
    smooth = few.resize(part.size, Image.Resampling.BILINEAR)
    picture.paste(smooth.filter(ImageFilter.GaussianBlur(max(part.size) / (2 * _BLUR_CELLS))), (left, top))
