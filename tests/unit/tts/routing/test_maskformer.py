"""The real MaskFormer path on a tiny random network, batched. Needs the `segmentation` extra."""

import importlib.util
import warnings

import numpy as np
import pytest
from support.basics import a_context

from tts.errors import ConfigError
from tts.routing.locatability import FixedLocator
from tts.routing.segmentation import CLASSES, Segmenter, VisualLocator

_MISSING = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
needs_torch = pytest.mark.skipif(bool(_MISSING), reason=f"needs {_MISSING}: pip install 'geotts[segmentation]'")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A Swin backbone and decoder of a few thousand weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import DetrConfig, MaskFormerConfig, MaskFormerForInstanceSegmentation, SwinConfig

        backbone = SwinConfig(
            image_size=64, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 1, 1, 1], window_size=4,
            out_features=["stage1", "stage2", "stage3", "stage4"],
        )  # fmt: skip
        decoder = DetrConfig(
            d_model=32, decoder_layers=1, encoder_layers=1, decoder_attention_heads=2, encoder_attention_heads=2,
            decoder_ffn_dim=16, encoder_ffn_dim=16, num_queries=8,
        )  # fmt: skip
        config = MaskFormerConfig(
            backbone_config=backbone, decoder_config=decoder, fpn_feature_size=32, mask_feature_size=32, num_labels=150
        )
        folder = tmp_path_factory.mktemp("maskformer")
        MaskFormerForInstanceSegmentation(config).save_pretrained(folder)
    return str(folder)


@needs_torch
@pytest.mark.filterwarnings("ignore")
async def test_photos_are_segmented_in_one_batch(checkpoint, sign_photo, blank_photo):
    segmenter = Segmenter(checkpoint)
    both = segmenter.segment([sign_photo, blank_photo])
    assert [one.ndim for one in both] == [2, 2]
    assert all(0 <= one.min() <= one.max() < CLASSES for one in both)
    assert np.mean(segmenter.segment([blank_photo])[0] == both[1]) > 0.99
    rated = (
        await VisualLocator(segmenter, FixedLocator(0.4)).rate([sign_photo, blank_photo], a_context())
    ).locatability
    assert rated.score == 0.4
    assert 0.0 <= rated.parts["visual"] <= 1.0


@pytest.mark.skipif(not _MISSING, reason="torch and transformers are installed here")
def test_without_the_extra_the_message_says_what_to_install():
    with pytest.raises(ConfigError, match=r"geotts\[segmentation\]"):
        Segmenter("nowhere")
