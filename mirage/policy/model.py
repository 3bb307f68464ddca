"""Policy files: YAML -> rules, checked with pydantic. Unknown keys, effects and actions are errors."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import jmespath
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from mirage.policy.patterns import PathPattern
from mirage.policy.vocabulary import ACTIONS, CHANGING, EFFECTS


class PolicyError(ValueError):
    """A policy that cannot be used; the text names where and what."""


class OperandModel(BaseModel):
    model_config = ConfigDict(extra="forbid")
    mount_root: bool | None = None
    recursive: bool | None = None


class RuleModel(BaseModel):
    """One rule as written. Lists and single values are both accepted."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    name: str | None = None
    effect: list[str] | None = None
    path: list[str] | None = None
    command: list[str] | None = None
    operand: OperandModel | None = None
    cli: list[str] | None = None
    operation: list[str] | None = None
    when: str | None = None
    action: str
    reason: str | None = None
    calls: int | None = Field(default=None, ge=0)
    bytes: int | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)

    @field_validator("effect", "path", "command", "cli", "operation", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("effect")
    @classmethod
    def _known_effects(cls, value: list[str] | None) -> list[str] | None:
        for effect in value or ():
            if effect not in EFFECTS:
                raise ValueError(f"unknown effect {effect!r}; known: {', '.join(EFFECTS)}")
        return value

    @field_validator("action")
    @classmethod
    def _known_action(cls, value: str) -> str:
        if value not in ACTIONS:
            raise ValueError(f"unknown action {value!r}; known: {', '.join(ACTIONS)}")
        return value

    @field_validator("path")
    @classmethod
    def _good_patterns(cls, value: list[str] | None) -> list[str] | None:
        for pattern in value or ():
            PathPattern(pattern)
        return value

    @field_validator("when")
    @classmethod
    def _good_expression(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                jmespath.compile(value)
            except jmespath.exceptions.JMESPathError as e:
                raise ValueError(f"not a jmespath expression: {e}") from None
        return value

    @model_validator(mode="after")
    def _consistent(self) -> RuleModel:
        if self.path and (self.command or self.operand or self.cli or self.operation or self.when):
            raise ValueError("a rule is about a path, or a command, or a call: path cannot stand with "
                             "command, operand, cli, operation or when")
        if self.operand and not self.command and self.effect != ["exec"]:
            raise ValueError("operand needs command (and effect: exec)")
        if (self.operation or self.when) and not self.cli and not self.effect:
            raise ValueError("operation and when need cli or effect")
        if self.action == "readonly" and self.effect:
            raise ValueError(f"readonly already means deny of {', '.join(CHANGING)}; leave effect out")
        if self.action == "limit" and self.calls is None and self.bytes is None and self.seconds is None:
            raise ValueError("limit needs calls, bytes or seconds")
        if self.action == "hide" and not self.path:
            raise ValueError("hide needs a path")
        return self


class PolicyModel(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = "policy"
    description: str | None = None
    allow_paths: list[str] | None = None
    default: str = "allow"
    rules: list[RuleModel] = Field(default_factory=list)

    @field_validator("default")
    @classmethod
    def _default(cls, value: str) -> str:
        if value not in ("allow", "deny"):
            raise ValueError("default must be allow or deny")
        return value

    @field_validator("allow_paths")
    @classmethod
    def _absolute(cls, value: list[str] | None) -> list[str] | None:
        for pattern in value or ():
            if not pattern.startswith("/"):
                raise ValueError(f"allow_paths: {pattern!r} must begin with /")
            PathPattern(pattern)
        return value


def shipped_folder() -> Path:
    import mirage
    return Path(mirage.__path__[0]) / "policies"


def shipped_names() -> list[str]:
    return sorted(p.stem for p in shipped_folder().glob("*.yaml"))


def read(source: str | Path) -> tuple[PolicyModel, str]:
    """A PolicyModel and where it came from: a Path, a path in a str, a shipped name, or YAML text."""
    if isinstance(source, str) and "\n" not in source and ":" not in source:
        shipped = shipped_folder() / f"{source}.yaml"
        if shipped.is_file():
            source = shipped
        elif source.endswith((".yaml", ".yml")) or "/" in source:
            source = Path(source)
        else:
            raise PolicyError(f"no shipped policy is named {source!r}; there are: {', '.join(shipped_names())}; "
                              "a file needs its path, such as ./team.yaml")
    elif isinstance(source, str) and "\n" not in source and source.endswith((".yaml", ".yml")):
        source = Path(source)
    if isinstance(source, Path):
        try:
            text, where = source.read_text(encoding="utf-8"), str(source)
        except OSError as e:
            raise PolicyError(f"cannot read the policy {source}: {e.strerror}") from None
    else:
        text, where = source, "policy"
    return parse(text, where), where


def parse(text: str, where: str) -> PolicyModel:
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as e:
        raise PolicyError(f"{where}: not valid YAML: {e}") from None
    if not isinstance(data, dict):
        raise PolicyError(f"{where}: expected keys such as rules:, allow_paths:, default:")
    try:
        return PolicyModel.model_validate(data)
    except ValidationError as e:
        lines = []
        for error in e.errors(include_url=False, include_input=False):
            place = ".".join(str(x) for x in error["loc"])
            text = f"unknown key {place!r}" if error["type"] == "extra_forbidden" else \
                f"{place}: {error['msg'].removeprefix('Value error, ')}"
            lines.append(text)
        raise PolicyError(f"{where}: " + "; ".join(lines)) from None
