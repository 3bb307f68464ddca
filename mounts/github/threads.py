"""Issues and pull requests with what was said about them. One call for many where that is less."""
from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

from mirage.mounts.github.client import DIFF, PER_PAGE
from mirage.vfs.declare.store import Kept
from mirage.vfs.names import safe_name

if TYPE_CHECKING:
    from mirage.mounts.github.client import GitHubClient
    from mirage.vfs.declare.store import Store

    Item = dict[str, Any]

HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
OPEN = (b"diff --git", b"--- ", b"+++ ", b"new file", b"deleted file", b"old mode", b"similarity", b"dissimilarity",
        b"rename from", b"copy from")                        # lines of a file's head that are not its last one
EMPTY = b"e69de29"                                           # a file without a content has no hunks
MANY = 8                                                     # issues: then all comments of the repository are read


class Threads:
    def __init__(self, client: GitHubClient, store: Store) -> None:
        self.client = client
        self.store = store
        self._lock = threading.Lock()
        self._names: dict[tuple[str, int], set[str]] = {}    # the names under which things were read
        self._heads: dict[tuple[str, str], set[tuple[str, int]]] = {}

    def names(self, repo: str, number: int) -> set[str]:
        with self._lock:
            return set(self._names.get((repo, number), ()))

    def pulls_of(self, repo: str, branch: str) -> set[tuple[str, int]]:
        """(repository, number) of the pull requests that were read and come from a branch."""
        with self._lock:
            return set(self._heads.get((repo, branch), ()))

    def _remember(self, repo: str, item: Item) -> None:
        with self._lock:
            if "head" in item:
                head = ((item["head"].get("repo") or {}).get("full_name", repo), item["head"]["ref"])
                self._heads.setdefault(head, set()).add((repo, item["number"]))
            self._names.setdefault((repo, item["number"]), set()).add(safe_name(f"{item['number']}__{item['title']}"))

    def issue(self, repo: str, item: Item) -> Item:
        """The issue with `comment_list`."""
        self._remember(repo, item)
        return {**item, "comment_list": self._comments(repo, item)}

    def pull(self, repo: str, item: Item) -> Item:
        """The pull request with `comment_list`, `review_list` and `review_comment_list`."""
        self._remember(repo, item)
        base = f"/repos/{repo}/pulls/{item['number']}"
        whole = item if "changed_files" in item else self.client.get(base)
        notes = self.client.pages(f"{base}/comments") if whole.get("review_comments", 1) else []
        return {**whole, "comment_list": self._comments(repo, whole),
                "review_list": self.client.pages(f"{base}/reviews"), "review_comment_list": notes}

    def diff(self, repo: str, item: Item) -> bytes:
        self._remember(repo, item)
        data: bytes = self.client.send("GET", f"/repos/{repo}/pulls/{item['number']}", raw=True, accept=DIFF,
                                       accepted=lambda data: data if is_whole_diff(data) else None).value
        return data

    def run(self, repo: str, item: Item) -> Item:
        """The run with `job_list`."""
        return {**item, "job_list": self.client.pages(f"/repos/{repo}/actions/runs/{item['id']}/jobs", "jobs")}

    def _comments(self, repo: str, item: Item) -> list[Item]:
        if not item.get("comments", 1):
            return []
        kept = self.store.peek(("comments", repo), f"@comments/{repo}")
        found = kept.value.get(item["number"], []) if kept is not None else []
        if found and len(found) == item.get("comments") and found[-1]["updated_at"] <= item["updated_at"]:
            return list(found)
        return self.client.pages(f"/repos/{repo}/issues/{item['number']}/comments")

    def prefetch(self, repo: str, items: list[Item]) -> None:
        """These issues will be read: all comments of the repository at once, where that takes fewer calls."""
        talked = [item for item in items if item.get("comments")]
        if len(talked) < MANY:
            return
        pages = min(len(talked), max(3, 3 * sum(item["comments"] for item in talked) // PER_PAGE))

        def make(previous: Kept | None) -> Kept:
            found: dict[int, list[Item]] = {}
            comments = self.client.pages(f"/repos/{repo}/issues/comments", most=pages, sort="created", direction="asc")
            for comment in comments:
                number = str(comment.get("issue_url", "")).rpartition("/")[2]
                if number.isdigit():
                    found.setdefault(int(number), []).append(comment)
            return Kept(found, 3000 * len(comments))
        self.store.get(("comments", repo), f"@comments/{repo}", make)


def is_whole_diff(data: bytes) -> bool:
    """Does each hunk have the lines that it announces, and the last file something about it?"""
    old = new = 0
    header = False
    for line in data.split(b"\n") if not data or data.endswith(b"\n") else (b"diff --git",):
        first = line[:1]
        if old > 0 or new > 0:
            old -= first in (b" ", b"-")
            new -= first in (b" ", b"+")
            if first not in (b" ", b"+", b"-", b"\\"):
                return False
            continue
        hunk = HUNK.match(line)
        if hunk:
            old, new = (int(count) if count is not None else 1 for count in hunk.groups())
            header = False
        elif line:
            header = line.startswith(OPEN) or line.startswith(b"index ") and EMPTY not in line
    return old <= 0 and new <= 0 and not header
