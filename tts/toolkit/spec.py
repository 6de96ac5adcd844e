"""What a tool is: a specification, a pydantic model of its arguments, and one async function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from tts.domain.tooling import Fact, ImageRef
from tts.errors import ToolError
from tts.ports.toolbox import Attachment, ToolContext, ToolSchema


class Arguments(BaseModel):
    """Base of argument models. Unknown keys are ignored: models like to add some."""

    model_config = ConfigDict(frozen=True, extra="ignore")


ArgsT_contra = TypeVar("ArgsT_contra", bound=Arguments, contravariant=True)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """Facts about a tool.

    Args:
        name: the name that models call; no other tool of a toolbox has it.
        description: what a model reads about the tool.
        timeout_s: the time limit for one call, in seconds.
        cacheable: whether equal calls give the same result, so that the broker may keep it, and a call may be repeated.
        needs_network: whether a call leaves the machine.
        local: whether it needs the pixels of the photo. It then runs beside the engine; other tools run in the broker.
        provider: the service behind it, or `offline`.
        ttl_s: for how long a result is kept, in seconds.
        negative_ttl_s: for how long a "not found" is kept, in seconds.
        stale_s: for how many seconds more an expired result is still shown if the provider fails.
        exact: names of arguments that are compared letter by letter, such as ids.
        depends_on_photo: whether results belong to a photo and are erased with it.
        sends_photo: whether it sends a part of the photo away. It then runs only for requests that consent.
        hides_hosts: whether the result depends on whether photo hosts are hidden.
    """

    name: str
    description: str
    timeout_s: float = 15.0
    cacheable: bool = True
    needs_network: bool = False
    local: bool = False
    provider: str = "offline"
    ttl_s: float = 7 * 86400.0
    negative_ttl_s: float = 3600.0
    stale_s: float = 30 * 86400.0
    exact: frozenset[str] = frozenset()
    depends_on_photo: bool = False
    sends_photo: bool = False
    hides_hosts: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool returns.

    Attributes:
        text: what the model reads.
        facts: for the checks of answers.
        images: the pictures that the model sees, by reference.
        attachments: the bytes of pictures that the tool made.
    """

    text: str
    facts: tuple[Fact, ...] = ()
    images: tuple[ImageRef, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Splitting(Generic[ArgsT_contra]):
    """How a call is split into several calls that are cached separately, and how their results are merged.

    Args:
        split: from the arguments of a call to those of its parts, at least one.
        join: from the arguments of the call, an observation or an error for each part in order, and the context, to the
            observation of the call. It is called for a single part too. It raises ToolError if the call failed.
    """

    split: Callable[[ArgsT_contra], Sequence[Any]]
    join: Callable[[ArgsT_contra, Sequence[Observation | ToolError], ToolContext], Observation]


class Tool(Protocol):
    """One tool. `run` raises `ToolError` for what the model should hear; anything else ends that rollout."""

    @property
    def spec(self) -> ToolSpec:
        """Name, limits and properties; the same for as long as the tool lives."""
        ...

    @property
    def arguments(self) -> type[Arguments]:
        """The pydantic model that checks the arguments of a call, and whose schema a model sees."""
        ...

    @property
    def splitting(self) -> Splitting[Any] | None:
        """How a call is split for the cache; None if it is cached as a whole."""
        ...

    async def run(self, arguments: Any, context: ToolContext) -> Observation:
        """Do the work of one call. The caller cancels it after `spec.timeout_s`.

        Args:
            arguments: an instance of the class `self.arguments`.
            context: the request, its photos (for `local` tools only), and what it allows.

        Returns:
            The text that the model reads, with the facts and pictures behind it.

        Raises:
            ToolError: the call failed; the model reads `detail`.
        """
        ...


@dataclass(frozen=True, slots=True)
class FunctionTool(Generic[ArgsT_contra]):
    """A `Tool` made of its parts.

    Attributes:
        spec: as in `Tool`.
        arguments: as in `Tool`.
        function: does the work of one call, from the checked arguments and the context.
        splitting: as in `Tool`.
    """

    spec: ToolSpec
    arguments: type[ArgsT_contra]
    function: Callable[[ArgsT_contra, ToolContext], Awaitable[Observation]]
    splitting: Splitting[Any] | None = None

    async def run(self, arguments: ArgsT_contra, context: ToolContext) -> Observation:
        """Await `function`."""
        return await self.function(arguments, context)


def schema_of(tool: Tool) -> ToolSchema:
    """Describe a tool as a model sees it.

    Args:
        tool: only its specification and the class of its arguments are read.

    Returns:
        Its name, its description and pydantic's JSON schema of its arguments, without titles and without the docstring
        of the class.
    """
    schema = tool.arguments.model_json_schema()
    spec = tool.spec
    return ToolSchema(
        name=spec.name,
        description=spec.description,
        parameters=_clean(schema),
        sends_photo=spec.sends_photo,
        repeatable=spec.cacheable,
    )


def _clean(node: Any) -> dict[str, JsonValue]:
    def walk(value: Any, inside_properties: bool = False) -> Any:
        if isinstance(value, dict):
            return {
                key: walk(below, key == "properties")
                for key, below in value.items()
                if inside_properties or key != "title"
            }
        return [walk(item) for item in value] if isinstance(value, list) else value

    cleaned: dict[str, JsonValue] = walk(node)
    cleaned.pop("description", None)
    return cleaned
