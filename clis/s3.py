"""`s3`: buckets and objects of S3 and what speaks its protocol."""
from __future__ import annotations

import base64
import errno
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mirage.clis.framework import Call, OperationError, VirtualCli, operation
from mirage.mounts.fsspec.mount import FileStore
from mirage.process import blocking

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Nothing(Arguments):
    pass


class ListObjects(Arguments):
    bucket: str = Field(min_length=1)
    prefix: str = ""
    max_keys: int = Field(1000, ge=1, le=1000)
    start_after: str = Field("", description="the last key of the page before")


class OneObject(Arguments):
    bucket: str = Field(min_length=1)
    key: str = Field(min_length=1)


class GetObject(OneObject):
    path: str | None = Field(None, description="file to write; default: the content is printed")


class PutObject(OneObject):
    path: str | None = Field(None, description="file to send")
    body: str | None = Field(None, description="or the text to send")
    content_type: str | None = None

    @model_validator(mode="after")
    def _one(self) -> PutObject:
        if (self.path is None) == (self.body is None):
            raise ValueError("give path or body")
        return self


class CopyObject(OneObject):
    source_bucket: str = Field(min_length=1)
    source_key: str = Field(min_length=1)


class Presign(OneObject):
    expires_in: int = Field(3600, ge=1, le=604_800, description="seconds")


class S3Cli(VirtualCli):
    """The CLI of one account: that of the mount `service`."""

    name = "s3"
    description = "List, read, write, copy and delete objects of S3."

    def __init__(self, service: FileStore, name: str = "s3") -> None:
        super().__init__()
        self.name = name
        self.service = service
        self.counters = service.counters

    def _do(self, function: str, *args: Any, **options: Any) -> Any:
        """A method of s3fs. Raises OperationError with the service's message."""
        try:
            return blocking.call(partial(self.service.store.call, "", function, *args, **options))
        except FileNotFoundError:
            raise OperationError("no such bucket or key", 404) from None
        except OSError as e:
            note = str(getattr(e, "note", "") or e.strerror or e).removeprefix("s3: ")
            raise OperationError(note, errno.errorcode.get(e.errno or 0, "io").lower()) from None

    def _api(self, method: str, **options: Any) -> Any:
        """One call of the S3 API."""
        return self._do("call_s3", method, **options)

    @operation("List buckets", Nothing, effects=("read",))
    def list_buckets(self, call: Call, a: Nothing) -> Any:
        return [{"name": bucket["Name"], "created": _iso(bucket.get("CreationDate"))}
                for bucket in self._api("list_buckets").get("Buckets", ())]

    @operation("List objects of a bucket", ListObjects, effects=("read",))
    def list_objects(self, call: Call, a: ListObjects) -> Any:
        more = {"StartAfter": a.start_after} if a.start_after else {}
        found = self._api("list_objects_v2", Bucket=a.bucket, Prefix=a.prefix, MaxKeys=a.max_keys, **more)
        objects = [{"key": item["Key"], "size": item["Size"], "etag": item["ETag"].strip('"'),
                    "last_modified": _iso(item.get("LastModified"))} for item in found.get("Contents", ())]
        return {"objects": objects, "truncated": bool(found.get("IsTruncated"))}

    @operation("Read an object", GetObject, effects=("read",))
    def get_object(self, call: Call, a: GetObject) -> Any:
        data = bytes(self._do("cat_file", f"{a.bucket}/{a.key}"))
        if a.path is not None:
            try:
                call.proc.fs.write(a.path, data)
            except OSError as e:
                raise OperationError(f"{a.path}: {e.strerror}", "file") from None
            return {"path": a.path, "size": len(data)}
        try:
            return {"key": a.key, "size": len(data), "body": data.decode()}
        except UnicodeDecodeError:
            return {"key": a.key, "size": len(data), "base64": base64.b64encode(data).decode()}

    @operation("Write an object", PutObject, effects=("create", "update"))
    def put_object(self, call: Call, a: PutObject) -> Any:
        data = call.read_file(a.path) if a.path is not None else (a.body or "").encode()
        kind = {"ContentType": a.content_type} if a.content_type else {}
        self._change("pipe_file", f"{a.bucket}/{a.key}", data, **kind)
        return {"bucket": a.bucket, "key": a.key, "size": len(data)}

    @operation("Delete an object", OneObject, effects=("destroy",))
    def delete_object(self, call: Call, a: OneObject) -> Any:
        self._api("head_object", Bucket=a.bucket, Key=a.key)
        self._change("call_s3", "delete_object", Bucket=a.bucket, Key=a.key)
        return {"deleted": a.key}

    @operation("Copy an object", CopyObject, effects=("create", "update"))
    def copy_object(self, call: Call, a: CopyObject) -> Any:
        self._change("cp_file", f"{a.source_bucket}/{a.source_key}", f"{a.bucket}/{a.key}")
        return {"bucket": a.bucket, "key": a.key}

    @operation("Make a link by which anybody can read an object", Presign, effects=("share",))
    def presign(self, call: Call, a: Presign) -> Any:
        return {"url": self._do("sign", f"{a.bucket}/{a.key}", expiration=a.expires_in), "expires_in": a.expires_in}

    def _change(self, function: str, *args: Any, **options: Any) -> None:
        try:
            self._do(function, *args, **options)
        finally:
            self.service.forget()


def _iso(value: Any) -> str | None:
    return value.isoformat() if value is not None else None


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> S3Cli:
    """The CLI of a configuration: of the account of the options; without options, of the first S3 mount.

    Raises ValueError for unknown options, and where there is neither a mount nor an option.
    """
    from mirage.vfs.registry import ProviderError, make_mount
    if options:
        return S3Cli(make_mount("s3", options, folder), name)
    for mount in mounts.values():
        if isinstance(mount, FileStore) and mount.store.name == "s3":
            return S3Cli(mount, name)
    raise ProviderError(f"clis.{name}: give key, secret and endpoint, or mount s3")
