"""GeoAgent: the texts it is asked with, and those of its reinforcement learning and of its second reader."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tts.dialects.released.imported_texts import ImportedTexts
from tts.dialects.released.importing.checkout import text_of_file
from tts.dialects.released.importing.python_texts import assigned_text, dictionaries, parse_file, returned_text, text_of
from tts.errors import ConfigError

_INFERENCE_FILE: Final = "infer/infer.py"
_REWARDS_FILE: Final = "swift/plugin/orm.py"
_TRAINING_FILE: Final = "tools/grpo_prompt_en.txt"
READER_TEXT: Final = "consistency_system"
_IMAGE_MARK: Final = re.compile(r"^<image>")


def read_texts(checkout: Path) -> dict[str, ImportedTexts]:
    """One loop, so one folder. `training_system` is the system text of reinforcement learning: to be asked for
    `<think>` and `<answer>`, name it as `prompt_file`. Raises ConfigError naming what is not there.
    """
    path, rewards = checkout / _INFERENCE_FILE, checkout / _REWARDS_FILE
    tree = parse_file(path)
    asked = next(
        (text for found in dictionaries(tree) if "content" in found and (text := text_of(found["content"]))), None
    )
    if asked is None:
        raise ConfigError(f"{path} asks nothing beside the photo: is it the authors' repository?")
    texts = {
        "training_system": text_of_file(checkout / _TRAINING_FILE),
        READER_TEXT: assigned_text(parse_file(rewards), "self.system_prompt", rewards),
    }
    return {
        "": ImportedTexts(
            system=returned_text(tree, "_system_prompt", path), task=_IMAGE_MARK.sub("", asked), texts=texts
        )
    }
