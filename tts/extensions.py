"""What other packages add to GeoTTS: entry points in seven groups, each a table of things by their names.

    geotts.tools           a function of `tools.registry.ToolParts` that returns a tool
    geotts.providers       a `tools.providers.provider.Provider`
    geotts.dialects        a `tts.dialects.base.Dialect`
    geotts.datasets        a `tts.eval.datasets.base.Dataset`
    geotts.verifiers       a function of the consensus and the configuration that returns a `Verifier` (`tts.ports`)
    geotts.stop_policies   a function of a `tts.domain.stop_policy.StopView` that returns whether to stop
    geotts.commands        a `click.Command`, used as `geotts NAME`

The name of an entry point is the name of what it brings. Names are known without importing the package; it is imported
when the thing is used. `examples/extension` adds one of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, TypeVar

from tts.errors import ConfigError, boundary

T = TypeVar("T")
Group = Literal[
    "geotts.tools",
    "geotts.providers",
    "geotts.dialects",
    "geotts.datasets",
    "geotts.verifiers",
    "geotts.stop_policies",
    "geotts.commands",
]


class Registry(Mapping[str, T]):
    """The things of one kind by their names: the project's `own` first, then those of other packages."""

    def __init__(self, group: Group, own: Mapping[str, T] | None = None) -> None:
        self._group = group
        self._own_entries = own or {}
        self._loaded_entries: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        """Raises KeyError for an unknown name, ConfigError for what cannot be imported."""
        added = _added_entry_points(self._group)
        if name in self._own_entries:
            if name in added:
                raise ConfigError(
                    f"{_package_name(added[name])} brings {name!r} in {self._group}, which GeoTTS has itself"
                )
            return self._own_entries[name]
        if name not in self._loaded_entries:
            point = added[name]
            with boundary(ConfigError, f"loading {point.value} of {_package_name(point)} ({self._group})"):
                self._loaded_entries[name] = point.load()
        return self._loaded_entries[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is one of this name; nothing is imported."""
        return name in self._own_entries or name in _added_entry_points(self._group)

    def __iter__(self) -> Iterator[str]:
        """All names; nothing is imported for them."""
        yield from self._own_entries
        yield from (name for name in _added_entry_points(self._group) if name not in self._own_entries)

    def owner(self, name: str) -> str:
        """The package that brings the thing of this name. Raises KeyError for an unknown name, and for GeoTTS's own."""
        return _package_name(_added_entry_points(self._group)[name])

    def __len__(self) -> int:
        """How many there are."""
        return sum(1 for _ in self)


@lru_cache
def _added_entry_points(group: Group) -> Mapping[str, EntryPoint]:
    """By name. Raises ConfigError when two packages bring the same."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        if point.name in found and point.value != found[point.name].value:
            raise ConfigError(
                f"{_package_name(point)} and {_package_name(found[point.name])} both bring "
                f"{point.name!r} in {group}: remove one"
            )
        found[point.name] = point
    return found


def _package_name(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "a package"
