"""A tool: the time zone at a point. A model can compare it with a clock in the photo.

It needs nothing but its arguments, so it runs in the broker, where its results are cached.
"""

from __future__ import annotations

from timezonefinder import TimezoneFinder

from tools.places import PointArguments
from tools.registry import ToolParts
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec

_ZONES = TimezoneFinder()


async def zone_at(arguments: PointArguments, context: ToolContext) -> Observation:
    """What the model reads. Raises ToolError where no zone is known: the model reads why."""
    zone = _ZONES.timezone_at(lat=arguments.latitude, lng=arguments.longitude)
    if zone is None:
        raise ToolError("no time zone is known there", kind=ToolErrorKind.NOT_FOUND)
    return Observation(text=f"Clocks at {arguments.point()} show the time of {zone}.")


def make_tool(parts: ToolParts) -> Tool:
    """The entry point. `parts` has what tools may need: places, maps, an HTTP client."""
    spec = ToolSpec("time_zone_at", "Which time zone a point lies in.")
    return FunctionTool(spec, PointArguments, zone_at)
