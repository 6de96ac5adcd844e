"""What a tool is: a specification, a pydantic model of its arguments, and one async function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from tts.domain.tooling import Fact, ImageRef
from tts.errors import ToolError
from tts.ports import Attachment, ToolContext, ToolSchema


class Arguments(BaseModel):
    """Base of argument models. Unknown keys are ignored: models like to add some."""

    model_config = ConfigDict(frozen=True, extra="ignore")


ArgsT_contra = TypeVar("ArgsT_contra", bound=Arguments, contravariant=True)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """Facts about a tool. `local` tools need the pixels and run beside the engine; the others run in the broker.

    A result is good for `ttl_s`, a "not found" for `negative_ttl_s`; when the provider fails, a result is still shown
    for `stale_s` more. `exact` names arguments that are compared letter by letter (ids); `of_photo` results belong to
    a photo and are erased with it. One that `sends_photo` is run only for requests that consent; `hides_hosts`: what it
    returns depends on whether photo hosts are hidden.
    """

    name: str
    description: str
    timeout_s: float = 15.0
    parallel: bool = True
    cacheable: bool = True
    needs_network: bool = False
    local: bool = False
    provider: str = "offline"
    ttl_s: float = 7 * 86400.0
    negative_ttl_s: float = 3600.0
    stale_s: float = 30 * 86400.0
    exact: frozenset[str] = frozenset()
    of_photo: bool = False
    sends_photo: bool = False
    hides_hosts: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool returns: text for the model, facts for the checks, pictures by reference with their bytes."""

    text: str
    facts: tuple[Fact, ...] = ()
    images: tuple[ImageRef, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Splitting(Generic[ArgsT_contra]):
    """How a call is split into several calls that are cached separately, and how their results are merged.

    `join` gets an observation or an error for each part, in order, and is called for a single part too.
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
        """`arguments` is an instance of the class `arguments`. The caller keeps to the time limit."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionTool(Generic[ArgsT_contra]):
    """A `Tool` made of its three parts."""

    spec: ToolSpec
    arguments: type[ArgsT_contra]
    function: Callable[[ArgsT_contra, ToolContext], Awaitable[Observation]]
    splitting: Splitting[Any] | None = None

    async def run(self, arguments: ArgsT_contra, context: ToolContext) -> Observation:
        """Await `function`."""
        return await self.function(arguments, context)


def schema_of(tool: Tool) -> ToolSchema:
    """The tool as a model sees it; pydantic's titles are noise to a model and are dropped."""
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
