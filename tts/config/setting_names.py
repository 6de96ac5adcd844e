"""How advice names the settings of an engine: by the place of the engine in the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class SettingNames:
    """`pattern` has `{}` where the name of the setting stands. `flags`: the options of commands, by what they set."""

    pattern: str
    flags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def name(self, setting: str) -> str:
        """Name a setting by its place in the configuration.

        Args:
            setting: its name in the engine, such as `base_url`.

        Returns:
            A text such as `engine.base_url`.
        """
        return self.pattern.format(setting)

    def with_flag(self, setting: str) -> str:
        """Name a setting, and the option of the command line that sets it.

        Args:
            setting: its name in the engine, such as `base_url`.

        Returns:
            A text such as `engine.base_url, --endpoint`; the name alone if there is no option.
        """
        flag = self.flags.get(setting)
        return f"{self.name(setting)}, {flag}" if flag else self.name(setting)

    def shortest(self, setting: str) -> str:
        """Name a setting as briefly as possible.

        Args:
            setting: its name in the engine, such as `base_url`.

        Returns:
            The option, such as `--endpoint`; `name` if there is none.
        """
        return self.flags.get(setting, self.name(setting))


OF_ENGINE = SettingNames("engine.{}", MappingProxyType({"base_url": "--endpoint", "model": "--model"}))
OF_MEMBER = SettingNames("its {} in engines")
OF_OBSERVER = SettingNames("observer.{}")
OF_VERIFIER = SettingNames("verifier.engine.{}")
OF_CONSISTENCY = SettingNames("verifier.consistency.engine.{}")
