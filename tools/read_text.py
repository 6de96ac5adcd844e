"""Read the text in a region of a photo, enlarged, so that small print becomes legible."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tools.zoom import BoxArguments
from tts.domain.reading import TextLine
from tts.domain.tooling import ImageRef, TextFact, ViewFact
from tts.errors import ToolError, ToolErrorKind
from tts.ports.perception import Perception
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec


class ReadArguments(BoxArguments):
    """A region, and what it is written in."""

    language: Annotated[
        str,
        Field(
            max_length=12,
            description="what the lines are written in, as a tag such as ko, th, ar, ur, ru or hi, when the ordinary "
            "reading may have taken them for another script; leave it out otherwise",
        ),
    ] = ""


def read_text_tool(perception: Perception) -> Tool:
    """Make `read_text`, which runs beside the engine.

    Args:
        perception: reads the region, in the language of the call where it states one.

    Returns:
        The tool. It fails with NOT_FOUND where the region has no readable text.
    """

    async def read(arguments: ReadArguments, context: ToolContext) -> Observation:
        box = arguments.box(context)
        photo = context.photos[box.photo]
        reading = await perception.read(photo, box, context.request, arguments.language.split("-")[0].lower())
        if not reading.lines:
            raise ToolError("no readable text in this region", kind=ToolErrorKind.NOT_FOUND)
        left, top, right, bottom = box.pixels(photo.width, photo.height)
        image = ImageRef(sha256=photo.sha256, width=right - left, height=bottom - top, box=box)
        facts = tuple(
            TextFact(
                text=line.text,
                box=line.box.of_photo(box.photo),
                script=line.script,
                language=line.language or arguments.language,
                confidence=line.confidence,
                alternatives=line.alternatives,
            )
            for line in reading.lines
        )
        text = "\n".join(map(_describe_line, reading.lines))
        return Observation(text=text, facts=(*facts, ViewFact(image=image, source="photo")), images=(image,))

    spec = ToolSpec(
        name="read_text",
        description="Read the text in a region of the photo, enlarged; returns the lines with their confidence.",
        timeout_s=20.0,
        local=True,
        provider="perception",
    )
    return FunctionTool(spec, ReadArguments, read)


def _describe_line(line: TextLine) -> str:
    others = f", or: {' / '.join(line.alternatives)}" if line.alternatives else ""
    return f"{line.text}  (confidence {line.confidence:.2f}{others})"
