"""What changes a mailbox, as the CLI `mail` needs it of every provider."""
from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any, Protocol

from mirage.vfs.service import service_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mirage.mounts.mail.message import Meta


class Receipt:
    """A message that was sent, made or moved, but could not be looked at afterwards; "" is what nobody knows."""

    __slots__ = ("id", "thread")

    def __init__(self, id: str = "", thread: str = "") -> None:
        self.id = id
        self.thread = thread


def partly(e: OSError, done: Sequence[str], of: int) -> OSError:
    """The error of a change of several messages, saying which ones were changed before it."""
    if not done:
        return e
    note = f"{getattr(e, 'note', '') or e.strerror} ({len(done)} of {of} were done: {', '.join(done)})"
    return service_error(e.errno or errno.EIO, note, getattr(e, "status", 0))


class Account(Protocol):
    """One account. Folders are named by their labels (`Folder.label`), marks by STARRED, IMPORTANT and UNREAD.

    Every method may wait, through mirage.process.blocking, and raises OSError (mirage/vfs/service.py). What changes
    something is sent once. The mailbox knows of the change when a method returns. An error means that nothing was
    changed, or says what was; where only looking at the result fails, there is a Receipt.
    most      bytes of attachments that can be sent
    syntax    of `search`, for its help
    """

    most: int

    def address(self) -> str:
        """The account's own address."""

    def send(self, raw: bytes, thread: str = "") -> Meta | Receipt:
        """Send a message (RFC 5322); what is in Sent then."""

    def insert(self, raw: bytes, label: str, marks: Iterable[str] = ()) -> Meta | Receipt:
        """Put a message into a folder without sending it."""

    def change(self, metas: Sequence[Meta], add: Sequence[str], remove: Sequence[str]) -> list[Meta]:
        """Marks and labels of messages."""

    def move(self, metas: Sequence[Meta], label: str) -> Sequence[Meta | Receipt]:
        """Out of their folders into one; the messages as they are there."""

    def trash(self, metas: Sequence[Meta]) -> Sequence[Meta | Receipt]: ...

    def delete(self, metas: Sequence[Meta]) -> None:
        """For good."""

    def search(self, query: str, label: str, most: int) -> tuple[list[str], bool]:
        """(ids of at least `most` messages where there are so many, are there more), newest first.

        query  "": all;  label  "": everywhere
        """

    def headers(self, meta: Meta) -> list[dict[str, str]]: ...

    def counts(self, labels: Sequence[str]) -> dict[str, tuple[int, int]]:
        """label -> numbers of messages and of unread ones."""

    def create_folder(self, name: str) -> str:
        """The new folder's label. `A/B` makes B in A."""

    def delete_folder(self, label: str) -> None: ...

    def reload_folders(self) -> None:
        """Ask which folders there are."""

    def check(self) -> dict[str, Any]:
        """Something about the account, asked just now."""

    def save_draft(self, raw: bytes, id: str = "", old: Meta | None = None) -> tuple[str, Meta | Receipt]:
        """(its id, its message) of a new draft, or of the draft `id` whose message was `old`."""

    def drafts(self, most: int | None = None) -> list[tuple[str, str]]:
        """(id, id of the message) of the drafts, newest first; at least `most`."""

    def delete_draft(self, id: str, meta: Meta) -> None: ...

    def send_draft(self, id: str, meta: Meta) -> Meta | Receipt: ...
