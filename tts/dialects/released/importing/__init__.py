"""Reads prompts, tool descriptions and the loop's texts out of a user's own checkout of the authors' code.

Nothing of the checkout is run: Python is parsed, YAML and notebooks are read.
"""

from tts.dialects.released.importing.systems import IMPORTABLE, IMPORTERS

__all__ = ["IMPORTABLE", "IMPORTERS"]
