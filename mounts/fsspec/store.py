"""A file system of fsspec: made when it is first needed, its calls counted, its errors as errno with its message."""
from __future__ import annotations

import contextlib
import errno
import os
import shutil
import threading
from typing import TYPE_CHECKING, Any

from mirage.vfs.service import Counters, service_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Protocol

    class Keys(Protocol):
        """What FileStore asks of a store; `call` gives what the method of that name in fsspec does."""

        label: str
        name: str
        counters: Counters

        @property
        def flat(self) -> bool: ...
        @property
        def asks_size(self) -> bool: ...
        def full(self, path: str) -> str: ...
        def bare(self, full: str) -> str: ...
        def errors(self, path: str) -> AbstractContextManager[None]: ...
        def call(self, path: str, function: str, *args: Any, **options: Any) -> Any: ...
        def unchanged(self) -> bool: ...
        def whole_tree(self, path: str) -> list[dict[str, Any]] | None: ...
        def forget(self) -> None: ...
        def move(self, old: str, new: str) -> None: ...
        def put(self, path: str, file: Any, size: int) -> None: ...

FLAT = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "r2", "b2", "swift", "memory"}
NETWORK = {errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.ETIMEDOUT, errno.EHOSTUNREACH,
           errno.ENETUNREACH, errno.EPIPE}
ONE_ANSWER = 1000                                            # keys that S3 gives at most
STREAM = 8 << 20                                             # bytes from which a file is sent in parts


class Store:
    """make() gives (file system, root). `label` is what repr shows, `name` stands before messages.

    flat: an object store, where directories are only prefixes of keys.
    """

    def __init__(self, make: Callable[[], tuple[Any, str]], label: str, name: str) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: tuple[Any, str] | None = None
        self.label = label
        self.name = name
        self.counters = Counters()

    def _get(self) -> tuple[Any, str]:
        with self._lock:
            if self._made is None:
                with self.errors("/"):
                    try:
                        fs, root = self._make()
                    except LookupError as e:
                        raise service_error(errno.EACCES, f"{self.name}: {e}") from None
                    except ImportError as e:
                        raise service_error(errno.EINVAL, f"{self.name}: a package is not installed: {e}") from None
                    except ValueError as e:
                        raise service_error(errno.EINVAL, f"{self.name}: {e}") from None
                self._made = fs, root.rstrip("/")
            return self._made

    @property
    def fs(self) -> Any:
        return self._get()[0]

    @property
    def flat(self) -> bool:
        protocol = self.fs.protocol
        return bool(FLAT & ({protocol} if isinstance(protocol, str) else set(protocol)))

    @property
    def asks_size(self) -> bool:
        """Does it ask for the size before it reads a whole file?"""
        return int(getattr(self.fs, "max_concurrency", 1) or 1) > 1

    def full(self, path: str) -> str:
        """The store's own path of a path in the mount."""
        root = self._get()[1]
        return root + path if path != "/" else root or self.fs.root_marker

    @contextlib.contextmanager
    def errors(self, path: str) -> Iterator[None]:
        """Errors of the library as OSError."""
        try:
            yield
        except OSError as e:
            if hasattr(e, "note"):
                raise
            note = " ".join(str(e).split())[:300]
            number = e.errno or _kind(e)
            if number in NETWORK or number < 0:
                number = errno.EIO
            if number == errno.ENOENT:
                raise OSError(number, os.strerror(number), path) from None
            error = service_error(number, f"{self.name}: {note}")
            error.filename = path
            raise error from None
        except UnicodeError:
            raise OSError(errno.EILSEQ, os.strerror(errno.EILSEQ), path) from None
        except NotImplementedError:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM), path) from None
        except Exception as e:
            number = errno.EACCES if "credential" in type(e).__name__.lower() else errno.EIO
            note = " ".join(str(e).split())[:300]
            error = service_error(number, f"{self.name}: {note or type(e).__name__}")
            error.filename = path
            raise error from None

    def call(self, path: str, function: str, *args: Any, **options: Any) -> Any:
        """A method of the file system; waits on the thread that calls it."""
        self.counters.add(calls=1)
        with self.errors(path):
            return getattr(self.fs, function)(*args, **options)

    def bare(self, full: str) -> str:
        """A path as listings have it, without slashes around."""
        return str(self.fs._strip_protocol(full)).strip("/")

    def unchanged(self) -> bool:
        """Does the store say, in one call, that all is as it was when this was asked last?"""
        return False

    def whole_tree(self, path: str) -> list[dict[str, Any]] | None:
        """Every file below a directory, if one answer of an object store has them all and no odd key is among them."""
        fs = self.fs
        if not hasattr(fs, "call_s3") or not hasattr(fs, "split_path"):
            return None
        bucket, key, _ = fs.split_path(self.full(path))
        if not bucket:
            return None
        prefix = f"{key.rstrip('/')}/" if key else ""
        self.counters.add(calls=1)
        try:
            with self.errors(path):
                answer = fs.call_s3("list_objects_v2", Bucket=bucket, Prefix=prefix, MaxKeys=ONE_ANSWER)
        except OSError:
            return None                                      # the listing will say why
        found = answer.get("Contents", [])
        if answer.get("IsTruncated") or any(_odd(item["Key"][len(prefix):]) for item in found):
            return None
        return [{**item, "name": f"{bucket}/{item['Key']}", "type": "file", "size": item["Size"]} for item in found
                if item["Key"] != prefix]

    def forget(self) -> None:
        if self._made is not None:
            self._made[0].invalidate_cache()

    def move(self, old: str, new: str) -> None:
        """A file to another name; it may replace one."""
        source, target = self.full(old), self.full(new)
        if _is_local(self.fs):
            self.call(old, "mv", source, target)
        else:
            self.call(old, "cp_file", source, target)
            self.call(old, "rm_file", source)

    def put(self, path: str, file: Any, size: int) -> None:
        """The whole content of a file, atomic where the store is: until the end there is the old one or none."""
        full = self.full(path)
        self.counters.add(calls=1)
        with self.errors(path):
            fs = self.fs
            if _is_local(fs):
                out = fs.open(full, "wb", autocommit=False)
                try:
                    shutil.copyfileobj(file, out, STREAM)
                    out.close()
                    out.commit()
                except BaseException:
                    out.close()
                    out.discard()
                    raise
            elif size <= STREAM or not self.flat:
                fs.pipe_file(full, file.read(size))
            else:
                out = fs.open(full, "wb", block_size=STREAM)
                try:
                    shutil.copyfileobj(file, out, STREAM)
                except BaseException:
                    out.discard()
                    out.closed = True
                    raise
                out.close()

    def __repr__(self) -> str:
        return self.label


def _odd(key: str) -> bool:
    """Has a key names that no directory can have? One slash at its end is that of a directory."""
    return any(part in ("", ".", "..") for part in key.removesuffix("/").split("/")) and key != ""


def _is_local(fs: Any) -> bool:
    from fsspec.implementations.dirfs import DirFileSystem
    from fsspec.implementations.local import LocalFileSystem
    return isinstance(fs.fs if isinstance(fs, DirFileSystem) else fs, LocalFileSystem)


def _kind(error: OSError) -> int:
    """The errno of an OSError that has none."""
    for kind, number in ((FileNotFoundError, errno.ENOENT), (FileExistsError, errno.EEXIST),
                         (PermissionError, errno.EACCES), (IsADirectoryError, errno.EISDIR),
                         (NotADirectoryError, errno.ENOTDIR), (TimeoutError, errno.EIO)):
        if isinstance(error, kind):
            return number
    return errno.EIO
