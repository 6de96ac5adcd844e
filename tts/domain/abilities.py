"""What an engine can do with a photo. The router makes its plan from these abilities."""

from __future__ import annotations

from tts.domain.value import Value


class Abilities(Value):
    """Stated by the engine's configuration.

    `sees_pictures`: it is shown the pixels; False for an engine that only reads the text in a photo. `calls_tools`: it
    can ask for tools.
    """

    sees_pictures: bool = False
    calls_tools: bool = True
