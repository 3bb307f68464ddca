"""What the CLIs of Google Drive share: ids from paths, calls, and what a change makes stale."""
from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from mirage.clis.framework import Call, OperationError, VirtualCli, explained
from mirage.mounts.gdrive.mount import Drive
from mirage.process import blocking

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount

    T = TypeVar("T", bound="DriveTool")

URL = re.compile(r"https://(?:docs|drive|sheets)\.google\.com/(?:[a-z]+/)*(?:u/\d+/)?(?:d|folders)/([A-Za-z0-9_-]+)")
FileId = Annotated[str, Field(description="id of the file, or its path", min_length=1)]
Name = Annotated[str, Field(min_length=1)]
FIELDS = "id,name,mimeType,size,modifiedTime,parents,webViewLink"
ANYWHERE: dict[str, Any] = {"supportsAllDrives": True}


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Nothing(Arguments):
    pass


class DriveTool(VirtualCli):
    """The Drive of `mount`; `point` is where it is mounted (None: nowhere, so that there are no paths)."""

    default = ""

    def __init__(self, mount: Drive, point: str | None = "/gd", name: str = "") -> None:
        super().__init__()
        self.name = name or self.default
        self.mount = mount
        self.client = mount.client
        self.counters = mount.counters
        self.point = point

    # ---- calls

    def read(self, method: str, **parameters: Any) -> Any:
        """The answer of a method that only looks."""
        return self._do(partial(self.client.call, method, **parameters))

    def write(self, method: str, changes: Iterable[str] = (), inside: Iterable[str] = (), **parameters: Any) -> Any:
        """The answer of a method that changes items, and what is inside of folders (ids): these are stale then."""
        try:
            return self._do(partial(self.client.call, method, safe=False, **parameters))
        finally:
            self.mount.account.changed(*changes, inside=inside)

    def _do(self, function: Any) -> Any:
        try:
            return blocking.call(function)
        except OSError as e:
            raise explained(e) from None

    # ---- ids and paths

    def id_of(self, call: Call, text: str) -> str:
        """The id that a path in the terminal, an address of Google's, or an id itself names."""
        found = URL.match(text)
        if found is not None:
            return found.group(1)
        if "/" not in text and "." not in text:
            return text
        try:
            path = call.proc.fs.realpath(text)
            call.proc.fs.stat(path)
        except OSError as e:
            raise OperationError(f"{text}: {e.strerror}", "file") from None
        point = (self.point or "").rstrip("/")
        if self.point is None or path != (point or "/") and not path.startswith(point + "/"):
            raise OperationError(f"{text}: this is not in the Drive of {self.name}", "file")
        place = self.mount.find(path[len(point):] or "/")
        id = place.item.id if place.item is not None else place.folder
        if not id:
            raise OperationError(f"{text}: this has no id", "file")
        return id

    def folder_of(self, call: Call, text: str | None) -> str:
        """The folder that an argument names; by default the top of the mount."""
        if text:
            return self.id_of(call, text)
        top: str = self._do(lambda: self.mount.top().folder)
        return top

    def shown(self, resource: dict[str, Any], parent: str = "", kind: str = "") -> dict[str, Any]:
        """A file resource with its path, where it is known without climbing up the folders."""
        if self.point is None:
            return resource
        try:
            path = self.mount.path_if_known(str(resource["id"]), parent, kind)
        except OSError:                                      # it was made; it cannot be looked at just now
            path = None
        return {**resource, "path": self.point.rstrip("/") + path} if path is not None else resource


def tool_from_config(make: type[T], name: str, options: dict[str, Any], mounts: Mapping[str, Mount], folder: Path) -> T:
    """For mirage.yaml. Without options, or with those of a gdrive mount's account, the mount's connection is used."""
    from mirage.clis._accounts import account
    return make(*account(name, "gdrive", Drive, options, mounts, folder, ("token", "credentials")), name)
