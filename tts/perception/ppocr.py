"""PP-OCR (through the rapidocr wheel): finds text boxes in every script, reads Latin, Chinese and Japanese.

Models ship in the wheel and are loaded by path; nothing is ever downloaded. One thread a session, because rollouts and
requests are the parallelism of this system.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from tts.decision_weights import weights
from tts.errors import DataError
from tts.perception.denormals import denormals_as_zero

Pixels = npt.NDArray[np.uint8]
Quad = npt.NDArray[np.float32]

_MODELS = {
    "Det.model_path": "PP-OCRv6_det_small.onnx",
    "Rec.model_path": "PP-OCRv6_rec_small.onnx",
    "Cls.model_path": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
}
_DETECT_SIDE_PX = int(weights("reading")["detect_side_px"])
_MAX_BOXES = 80


class PpOcr:
    """Detector and recogniser. Loading takes 0.3 s and 130 MB; not safe for two threads at once."""

    def __init__(self) -> None:
        import rapidocr  # noqa: PLC0415 - takes a second that every process of the service would spend at its start
        from rapidocr.ch_ppocr_rec import TextRecInput  # noqa: PLC0415

        folder = Path(rapidocr.__file__).parent / "models"
        missing = [name for name in _MODELS.values() if not (folder / name).is_file()]
        if missing:
            raise DataError(f"the rapidocr wheel lacks its models ({', '.join(missing)}): reinstall rapidocr 3.10")
        settings: dict[str, Any] = {key: str(folder / name) for key, name in _MODELS.items()}
        settings |= {
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,  # 800 MB with it, 420 MB without, no slower
            "Det.limit_type": "max",
            "Det.limit_side_len": _DETECT_SIDE_PX,
            "Rec.rec_batch_num": 8,
            "Global.log_level": "error",
        }
        logging.getLogger("RapidOCR").propagate = False
        engine = rapidocr.RapidOCR(params=settings)
        self._detector: Any = engine._load_det_model()  # type: ignore[no-untyped-call]
        self._recogniser: Any = engine._load_rec_model()  # type: ignore[no-untyped-call]
        self._recogniser_input: Any = TextRecInput

    def detect(self, pixels: Pixels) -> list[Quad]:
        """Text quadrilaterals, (4, 2) pixel corners from the top left clockwise; the largest when there are many."""
        with denormals_as_zero():
            found = self._detector(pixels)
        if found.boxes is None:
            return []
        quads = [np.asarray(box, dtype=np.float32) for box in found.boxes]
        quads.sort(key=lambda quad: -float(cv2.contourArea(quad)))
        return quads[:_MAX_BOXES]

    def recognise(self, crops: list[Pixels]) -> list[tuple[str, float]]:
        """Text and confidence of upright line pictures, in their order."""
        if not crops:
            return []
        with denormals_as_zero():
            found = self._recogniser(self._recogniser_input(img=crops))
        return [(text.strip(), float(score)) for text, score in zip(found.txts, found.scores, strict=True)]


def cut_out(pixels: Pixels, quad: Quad) -> Pixels:
    """The quadrilateral straightened to an upright rectangle."""
    width = max(1, round(max(np.linalg.norm(quad[0] - quad[1]), np.linalg.norm(quad[2] - quad[3]))))
    height = max(1, round(max(np.linalg.norm(quad[0] - quad[3]), np.linalg.norm(quad[1] - quad[2]))))
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    matrix = cv2.getPerspectiveTransform(quad.astype(np.float32), corners)
    flat = cv2.warpPerspective(pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(flat, dtype=np.uint8)
