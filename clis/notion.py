"""`notion`: the operations and arguments of Notion's own MCP server (mounts/notion/operations.json)."""
from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from mirage.clis._accounts import account
from mirage.clis._tables import operations
from mirage.clis.framework import OperationError, VirtualCli, explained
from mirage.mounts.notion.tree import Notion
from mirage.process import blocking
from mirage.vfs.declare.template import fill_path, holes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import BaseModel

    from mirage.vfs.types import Mount

    Values = dict[str, Any]

IDS = ("page_id", "block_id", "database_id", "after")
ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")


class NotionCli(VirtualCli):
    """What the integration of `mount` may do; `point`: where it is mounted, for paths in results (None: nowhere)."""

    description = "Change Notion, query databases, search titles. Ids may be given as paths of the mount."

    def __init__(self, mount: Notion, point: str | None = "/notion", name: str = "notion") -> None:
        super().__init__()
        self.name = name
        self.mount = mount
        self.counters = mount.counters
        self.point = point
        self.operations = operations("notion", NotionCli.perform, {"destroy": _trashes})

    def perform(self, name: str, declared: Values, given: Values) -> Any:
        """Send the request once; repeated only where it was refused, or reads."""
        values = {key: _prepared(key, value) for key, value in given.items()}
        values.update(values.pop("type", None) or {} if name == "update-a-block" else {})
        used = holes(declared["path"])
        rest = {key: value for key, value in values.items() if key not in used}
        method, reads = declared["method"], declared["effects"] == ["read"]
        query = {key: str(value) for key, value in rest.items()} if method == "GET" else \
            {"filter_properties": rest.pop("filter_properties")} if "filter_properties" in rest else {}
        try:
            path = fill_path(declared["path"], values)
            answer = blocking.call(lambda: self.mount.client.send(
                method, path, query, body=rest if method in ("POST", "PATCH") else None, safe=reads)).value
            if not reads:
                blocking.call(self._changed, name, values, answer)
        except LookupError as e:
            raise OperationError(str(e), "invalid_arguments", 2) from None
        except OSError as e:
            if not reads and getattr(e, "status", 0) not in range(400, 500):
                self.mount.store.clear()                     # nobody knows what was done
            raise explained(e) from None
        if name in ("post-page", "create-a-database") and self.point is not None:
            found = self.mount.path_of(answer)
            return {**answer, **({"path": self.point.rstrip("/") + found} if found else {})}
        return answer

    def _changed(self, name: str, values: Values, answer: Values) -> None:
        """Let the next command see what is new."""
        mount = self.mount
        if answer["object"] in ("page", "database"):
            mount.changed(answer)
            if name == "update-a-database":
                mount.store.drop([f"/.rows/{answer['id']}"])
        elif answer["object"] == "block":
            kind = {"child_page": "page", "child_database": "database"}.get(answer["type"], "block")
            mount.store.drop([f"/.blocks/{answer['id']}"], below=False)
            if kind == "block":
                mount.edited(mount.content.owner(answer))
            else:
                mount.changed({**answer, "object": kind})
        elif answer["object"] == "list" and answer["results"]:
            mount.edited(mount.content.owner(answer["results"][0]))


def _trashes(arguments: BaseModel) -> bool:
    return bool(getattr(arguments, "archived", None) or getattr(arguments, "in_trash", None))


def _prepared(key: str, value: Any) -> Any:
    """Paths become ids, JSON texts their values."""
    if key in IDS and isinstance(value, str):
        found = ID.findall(value)
        return found[-1] if found else value
    if key == "parent":
        return {k: _prepared(k, v) for k, v in value.items()}
    if key in ("children", "icon", "cover"):
        return [_parsed(v) for v in value] if isinstance(value, list) else _parsed(value)
    return value


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as e:
        raise OperationError(f"{value[:40]!r} is not JSON: {e}", "invalid_arguments", 2) from None


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> NotionCli:
    """For mirage.yaml. Without options, or with those of a notion mount's account, the mount's connection is used."""
    return NotionCli(*account(name, "notion", Notion, options, mounts, folder), name)
