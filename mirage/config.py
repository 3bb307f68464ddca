"""mirage.yaml -> Terminal. Unknown keys are errors that name the key and where it stands."""
from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from mirage.process.limits import Limits
from mirage.terminal import Terminal
from mirage.vfs.types import Mount

_UNITS = {"": 1, "B": 1, "K": 1024, "KIB": 1024, "M": 1024**2, "MIB": 1024**2, "G": 1024**3, "GIB": 1024**3,
          "KB": 1000, "MB": 1000**2, "GB": 1000**3}


class ConfigError(ValueError):
    """The configuration cannot be used; the text names the file, the place and what to write instead."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MountConfig(BaseModel):
    """One mount: the provider's name; every other key is an option of that provider."""

    model_config = ConfigDict(extra="allow")
    provider: str


class CliConfig(BaseModel):
    """One virtual CLI: a provider with its options, an MCP server, an OpenAPI document, or Python functions."""

    model_config = ConfigDict(extra="allow")
    provider: str | None = None
    mcp: dict[str, Any] | None = None
    openapi: str | dict[str, Any] | None = None
    python: str | None = None

    @model_validator(mode="after")
    def _one(self) -> CliConfig:
        if sum(x is not None for x in (self.provider, self.mcp, self.openapi, self.python)) != 1:
            raise ValueError("name one of provider, mcp, openapi, python")
        return self

    def source(self) -> tuple[str, dict[str, Any]]:
        """(provider, options) for make_cli."""
        options = dict(self.model_extra or {})
        if self.mcp is not None:
            return "mcp", {**self.mcp, **options}
        if self.openapi is not None:
            return "openapi", {"document": self.openapi, **options}
        if self.python is not None:
            return "python", {"functions": self.python, **options}
        return self.provider or "", options


class LimitsConfig(_Strict):
    timeout: float | None = None
    steps: int | None = None
    processes: int | None = None
    output: int | None = None
    memory: int | None = None
    depth: int | None = None

    @field_validator("output", "memory", mode="before")
    @classmethod
    def _bytes(cls, value: Any) -> Any:
        return parse_size(value) if isinstance(value, str) else value


class TerminalConfig(_Strict):
    cwd: str = "/workspace"
    env: dict[str, str] = Field(default_factory=dict)
    tz: str = "UTC"
    hostname: str = "mirage"
    net: list[str] = Field(default_factory=list)


class Config(_Strict):
    """A whole mirage.yaml. Relative paths are relative to the file's folder."""

    mounts: dict[str, MountConfig] = Field(default_factory=dict)
    clis: dict[str, CliConfig] = Field(default_factory=dict)
    policy: str | list[str] | None = None
    limits: LimitsConfig = Field(default_factory=LimitsConfig)
    journal: str | None = None
    index: str = ".mirage/index.db"
    terminal: TerminalConfig = Field(default_factory=TerminalConfig)
    file: Path = Field(default=Path("mirage.yaml"), exclude=True)

    @property
    def folder(self) -> Path:
        return self.file.resolve().parent

    @field_validator("mounts")
    @classmethod
    def _absolute(cls, mounts: dict[str, MountConfig]) -> dict[str, MountConfig]:
        for path in mounts:
            if not path.startswith("/"):
                raise ValueError(f"the mount path {path!r} must begin with /")
        return mounts

    def terminal_arguments(self, policies: Sequence[str | Path] = ()) -> dict[str, Any]:
        """Keyword arguments for Terminal(). `policies` come on top of those of the file.

        Raises ConfigError, PolicyError, OSError.
        """
        from mirage.clis import make_cli
        from mirage.policy import Policy
        from mirage.vfs.registry import make_mount
        mounts: dict[str, Mount] = {}
        for path, mount in self.mounts.items():
            try:
                mounts[path] = make_mount(mount.provider, dict(mount.model_extra or {}), folder=self.folder)
            except ValueError as e:                          # of the registry, or of the provider itself
                raise ConfigError(f"{self.file}: mounts: {path}: {e}") from None
        try:
            clis = [make_cli(name, *cli.source(), mounts=mounts, folder=self.folder) for name, cli in self.clis.items()]
        except ValueError as e:
            raise ConfigError(f"{self.file}: {e}") from None
        names = [self.policy] if isinstance(self.policy, str) else self.policy or []
        sources = [*(self._policy_source(n) for n in names), *policies]
        policy = Policy.load_all(sources) if sources else None
        limits = {k: v for k, v in self.limits.model_dump().items() if v is not None}
        return {"mounts": mounts, "clis": clis, "policy": policy, "limits": Limits(**limits),
                "journal": self.folder / self.journal if self.journal else None, "index": self.folder / self.index,
                "cwd": self.terminal.cwd, "env": self.terminal.env, "tz": self.terminal.tz,
                "hostname": self.terminal.hostname, "net": self.terminal.net}

    def _policy_source(self, name: str) -> str | Path:
        path = self.folder / os.path.expanduser(name)
        return path if path.suffix in (".yaml", ".yml") or path.exists() else name

    def make_terminal(self, policies: Sequence[str | Path] = (), **overrides: Any) -> Terminal:
        """The Terminal described here; `overrides` are keyword arguments of Terminal, mounts and env are merged.

        `policies` (names, files, YAML) hold together with those of the file: all must allow.
        """
        arguments = self.terminal_arguments(policies)
        for key, value in overrides.items():
            if key in ("mounts", "env"):
                arguments[key] = {**arguments[key], **(value or {})}
            elif value is not None:
                arguments[key] = value
        return Terminal(**arguments)


def parse_size(text: str) -> int:
    """Bytes of "512MiB", "64K", "1000000"; ValueError for anything else."""
    match = re.fullmatch(r"\s*(\d+)\s*([A-Za-z]*)\s*", text)
    if not match or match.group(2).upper() not in _UNITS:
        raise ValueError(f"{text!r} is not a size; write for example 512MiB")
    return int(match.group(1)) * _UNITS[match.group(2).upper()]


def load(path: str | Path) -> Config:
    """Read and check a mirage.yaml; raises ConfigError (the file is named) or OSError."""
    path = Path(path)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as e:
        raise ConfigError(f"{path}: not valid YAML: {e}") from None
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected keys such as mounts:, policy:, limits:")
    try:
        config = Config.model_validate(data)
    except ValidationError as e:
        raise ConfigError(f"{path}: {_explain(e)}") from None
    config.file = path
    return config


def _explain(e: ValidationError) -> str:
    lines = []
    for error in e.errors(include_url=False, include_input=False):
        where = ".".join(str(x) for x in error["loc"])
        if error["type"] == "extra_forbidden":
            lines.append(f"unknown key {where!r}" + _hint([str(x) for x in error["loc"]]))
        elif error["type"] == "model_type" and len(error["loc"]) == 2:
            lines.append(f"{where}: write {{provider: NAME, OPTION: VALUE, ...}}")
        else:
            lines.append(f"{where}: {error['msg'].removeprefix('Value error, ')}")
    return "; ".join(lines)


def _hint(place: Sequence[str]) -> str:
    """What may have been meant by an unknown key at this place."""
    from difflib import get_close_matches
    if len(place) == 1 and place[0] in ("rules", "allow_paths", "default"):
        return " (that is a policy: --policy FILE, or `policy: FILE` in a mirage.yaml)"
    sections: dict[str, type[BaseModel]] = {"limits": LimitsConfig, "terminal": TerminalConfig}
    known = sections.get(place[0], Config) if len(place) > 1 else Config
    keys = [key for key in known.model_fields if key != "file"]
    close = get_close_matches(place[-1], keys, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are: {', '.join(keys)}"
