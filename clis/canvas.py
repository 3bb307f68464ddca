"""`canvas`: the operations of the usual Canvas tools of agents. Their requests and arguments are data
(mounts/canvas/operations.json); what needs more than one request is here."""
from __future__ import annotations

import functools
import mimetypes
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from mirage.clis.framework import Call, Operation, OperationError, VirtualCli, explained, operation
from mirage.clis.rest import argument_model
from mirage.mounts.canvas import tree
from mirage.mounts.canvas.tree import Canvas
from mirage.mounts.rest.declaration import Operation as Declaration
from mirage.process import blocking
from mirage.vfs.declare.template import fill, fill_body, fill_path, holes, select

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mirage.vfs.types import Mount

DATA = Path(tree.__file__).parent / "operations.json"
EVENTS = {"available": "offer", "unpublished": "claim", "completed": "conclude"}


class Request(Declaration):
    """pages  the answer is a list, of which every page is asked for;  body: template of the body, instead of `wrap`"""

    pages: bool = False
    body: dict[str, Any] | None = None


class UploadFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    file: str = Field(description="path of a file of this terminal", min_length=1)
    course_id: int | None = Field(None, description="without it: to your own files")
    folder: str = Field("", description="path of the folder; made where it does not exist")
    name: str = Field("", description="another name")
    content_type: str = ""
    on_duplicate: str = Field("overwrite", pattern="^(overwrite|rename)$")


class CanvasCli(VirtualCli):
    """The operations on the Canvas of `mount`."""

    description = "Change Canvas: courses, assignments, pages, enrollments, messages."

    def __init__(self, mount: Canvas, name: str = "canvas") -> None:
        super().__init__()
        self.name = name
        self.mount = mount
        self.counters = mount.counters
        self.operations = {**_declared(), **self.operations}

    def perform(self, declared: Request, values: dict[str, Any]) -> Any:
        """Send the request once; repeated only where Canvas refused it, or where it only reads."""
        used = {h for text in (declared.path, *declared.query.values()) for h in holes(text)}
        fields = {key: value for key, value in values.items() if key not in used}
        if "workflow_state" in fields:
            fields["event"] = EVENTS[fields.pop("workflow_state")]
        body: Any = {declared.wrap: fields} if declared.wrap else fields
        if declared.body is not None:
            body = _given(fill_body(declared.body, values))
        query = {key: text for key, template in declared.query.items() if (text := fill(template, values))}
        try:
            path = fill_path(declared.path, values)
        except LookupError as e:
            raise OperationError(str(e), "invalid_arguments", 2) from None
        try:
            found = blocking.call(partial(self._send, declared, path, query, body))
        except OSError as e:
            self._changed(declared, values, None)
            raise explained(e) from None
        self._changed(declared, values, found)
        return select(declared.result, found)

    def _send(self, declared: Request, path: str, query: dict[str, str], body: Any) -> Any:
        client, method = self.mount.client, declared.method
        if not declared.pages:
            return client.send(method, path, query, body=None if method in ("GET", "DELETE") else body).value
        found: list[Any] = []
        answer = client.send("GET", path, {**query, "per_page": "100"})
        seen = {path}
        while True:
            found += answer.value
            if not answer.next or answer.next in seen:
                return found
            seen.add(answer.next)
            answer = client.send("GET", answer.next)

    def _changed(self, declared: Request, values: dict[str, Any], found: Any) -> None:
        known = {**values, **found} if isinstance(found, dict) else values
        for place in declared.stale:
            self.mount.changed(fill(place, known), values.get("course_id"))

    @operation("Upload a file", UploadFile, effects=("create", "destroy"),
               when={"destroy": lambda a: bool(a.on_duplicate == "overwrite")})
    def upload_file(self, call: Call, a: UploadFile) -> Any:
        data = call.read_file(a.file)
        name = a.name or a.file.rstrip("/").rpartition("/")[2]
        kind = a.content_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        fields = {"name": name, "size": len(data), "content_type": kind, "on_duplicate": a.on_duplicate,
                  **({"parent_folder_path": a.folder} if a.folder else {})}
        path = f"/courses/{a.course_id}/files" if a.course_id is not None else "/users/self/files"
        try:
            return blocking.call(self.mount.client.upload, path, fields, data)
        except OSError as e:
            raise explained(e) from None
        finally:
            self.mount.changed("files", a.course_id)


@functools.cache
def _declared() -> dict[str, Operation]:
    """The operations of the data file."""
    declared = TypeAdapter(dict[str, Request]).validate_json(DATA.read_bytes())
    return {key: Operation(key, one.summary, argument_model(key, one), tuple(one.effects), _method(one))
            for key, one in declared.items()}


def _given(body: Any) -> Any:
    """The body without fields that have no value."""
    if not isinstance(body, dict):
        return body
    kept = {key: _given(value) for key, value in body.items()}
    return {key: value for key, value in kept.items() if value is not None and value != {}}


def _method(declared: Request) -> Any:
    def method(cli: CanvasCli, call: Call, arguments: BaseModel) -> Any:
        return cli.perform(declared, arguments.model_dump(mode="json", exclude_none=True))
    return method


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> CanvasCli:
    """For mirage.yaml. Without options, or with the same URL and token as a canvas mount, its connection is used."""
    from mirage.vfs.registry import ProviderError, make_mount
    for mount in mounts.values():
        if isinstance(mount, Canvas) and (not options or mount.site == options.get("url") and "token" not in options):
            return CanvasCli(mount, name)
    if not options:
        raise ProviderError(f"clis.{name}: give url and token, or mount canvas")
    return CanvasCli(make_mount(provider, options, folder), name)
