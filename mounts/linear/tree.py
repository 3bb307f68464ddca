"""The tree of Linear as a declaration: teams with issues, projects, cycles and members."""
from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING, Any

from mirage.mounts.linear import queries
from mirage.mounts.linear.client import LinearClient
from mirage.mounts.linear.text import issue_text, project_text
from mirage.process import blocking
from mirage.vfs.declare import Declared, Directory, File, Rendering, Scope, Service
from mirage.vfs.declare.store import Kept
from mirage.vfs.names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mirage.vfs.secrets import Secret

    Object = dict[str, Any]

MODES = ("exact", "service", "auto")
KEY = re.compile(r"([A-Z][A-Z0-9]*)-([0-9]{1,9})")
FILE = re.compile(r"/([^/]+)/issues/([A-Z0-9]+)-([0-9]{1,9})__[^/]*\.(?:json|md)")
EXAMPLE = """\
{"identifier": "ENG-1", "title": "...", "description": "...", "state": {"name": "Todo", "type": "unstarted"},
 "assignee": {...}, "labels": {"nodes": [...]}, "comments": {"nodes": [{"body": "...", "user": {...}}]}}
"""


class Linear(Declared):
    """One workspace, read-only; changes are made with the CLI `linear`.

    token     Secret: a personal key (lin_api_...) or a token of OAuth
    endpoint  another server (a simulator)
    teams     keys of teams, separated by commas: only these
    search    "exact": read everything; "service", "auto": let Linear look for words
    rate      requests a second; 0: no limit
    ttl       seconds until things are asked for again;  cache: bytes to keep
    """

    client: LinearClient

    def __init__(self, token: Secret | None = None, endpoint: str = "", teams: str = "", search: str = "auto",
                 rate: float = 0.0, ttl: float = 30.0, cache: int = 64 << 20) -> None:
        if search not in MODES:
            raise ValueError(f"linear: search must be one of {', '.join(MODES)}, not {search!r}")
        if token is None:
            raise ValueError("linear needs a token")
        service = self._service()
        super().__init__(service, LinearClient(service, token, endpoint, rate), ttl=ttl, cache=cache)
        self.mode = search
        self.only = {key.strip().upper() for key in teams.split(",") if key.strip()}

    def _service(self) -> Service:
        from mirage.mounts.linear.search import search

        issues = File(
            name="{KEY__Title}",
            each=self._issues,
            find=self._find,
            modified="updatedAt",
            about="an issue with comments",
            content=lambda scope: self.issue(scope.item["identifier"]),
            renderings=[
                Rendering(suffix=".json", example=EXAMPLE, note="`.md` is the same to read."),
                Rendering(suffix=".md", format="text", render=lambda issue, scope: issue_text(issue)),
            ],
        )
        projects = File(
            name="{name}",
            each=lambda s: self._list(s, "Projects", "projects", queries.PROJECT, 50),
            id="slugId",
            modified="updatedAt",
            renderings=[
                Rendering(suffix=".json"),
                Rendering(suffix=".md", format="text", render=lambda project, scope: project_text(project)),
            ],
        )
        cycles = File(name="{stem}", each=self._cycles, modified="updatedAt", renderings=[Rendering(suffix=".json")])
        members = File(name="members", content=lambda s: self._list(s, "Members", "members", queries.USER, 100),
                       renderings=[Rendering(suffix=".jsonl", format="jsonl")])
        return Service(
            name="linear",
            summary="Linear. Change it with the `linear` CLI.",
            base_url="https://api.linear.app",
            search=search,
            tree=[
                Directory(
                    name="{TEAM}",
                    each=lambda scope: self.teams(),
                    as_="team",
                    children=[
                        Directory(name="issues", children=[issues]),
                        Directory(name="projects", children=[projects]),
                        Directory(name="cycles", children=[cycles]),
                        members,
                    ],
                )
            ],
        )

    # ---- what is asked for

    def teams(self) -> list[Object]:
        def make(previous: Kept | None) -> Kept:
            found = self.client.nodes(queries.teams(), {}, "teams")
            return Kept([{**team, "TEAM": team["key"]} for team in found if not self.only or team["key"] in self.only],
                        300 * len(found))
        found: list[Object] = self.store.get(("teams",), "/.teams", make).value
        return found

    def _list(self, scope: Scope, name: str, field: str, fields: str, first: int = 250) -> list[Object]:
        return self.client.nodes(
            queries.of_team(name, field, fields, first), {"id": scope["team"]["id"]}, f"team.{field}"
        )

    def _issues(self, scope: Scope) -> list[Object]:
        return [brief(issue) for issue in self._list(scope, "TeamIssues", "issues", queries.BRIEF)]

    def _cycles(self, scope: Scope) -> list[Object]:
        found = self._list(scope, "Cycles", "cycles", queries.CYCLE, 100)
        return [{**cycle, "stem": f"{cycle['number']:g}__{cycle['name'] or 'untitled'}"} for cycle in found]

    def _find(self, scope: Scope, name: str) -> Object | None:
        """The issue of a name, if it is in this team."""
        key = KEY.fullmatch(name.partition("__")[0])
        if key is None or key.group(1) != scope["team"]["key"]:
            return None
        try:
            issue = self.issue(key.group())
        except OSError as e:
            if e.errno in (errno.ENOENT, errno.EINVAL):
                return None
            raise
        item = brief(issue)
        here = issue["team"]["id"] == scope["team"]["id"] and not issue["archivedAt"]
        return item if here and safe_name(item["KEY__Title"]) == name else None

    def issue(self, identifier: str) -> Object:
        """A whole issue by its key."""
        def make(previous: Kept | None) -> Kept:
            return self._whole(self.client.query(queries.issue(), {"id": identifier})["issue"])
        found: Object = self.store.get(("issue", identifier), f"/.issues/{identifier}", make).value
        return found

    def _whole(self, issue: Object) -> Kept:
        """An issue as files show it: with all of its lists, and an address without words of the title."""
        for field in queries.LISTS:
            page = issue.get(field)
            if page is None:
                continue
            nodes, info = list(page["nodes"]), page.get("pageInfo") or {}
            if info.get("hasNextPage"):
                text = queries.more(field).replace("$after: String", "$after: String = null")
                nodes += self._rest(text, issue["id"], field, info["endCursor"])
            issue[field] = {"nodes": nodes}
        issue["comments"]["nodes"].sort(key=lambda comment: comment["createdAt"])
        head, mark, _ = issue["url"].partition(f"/issue/{issue['identifier']}")
        issue["url"] = head + mark
        return Kept(issue, 2 * len(str(issue)))

    def _rest(self, text: str, id: str, field: str, after: str | None) -> list[Object]:
        found: list[Object] = []
        while after is not None:
            page = self.client.query(text, {"id": id, "after": after})["issue"][field]
            found += page["nodes"]
            after = page["pageInfo"]["endCursor"] if page["pageInfo"]["hasNextPage"] else None
        return found

    def read_many(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Contents in the order of the paths; issues that are not kept are asked for 40 at a time."""
        wanted: dict[tuple[str, int], None] = {}
        for path in paths:
            match = FILE.fullmatch(path)
            if match and match.group(1) == match.group(2):
                key = f"{match.group(2)}-{int(match.group(3))}"
                if self.store.peek(("issue", key), f"/.issues/{key}") is None:
                    wanted[match.group(2), int(match.group(3))] = None
        batches = []
        for team in dict.fromkeys(team for team, _ in wanted):
            numbers = [number for t, number in wanted if t == team]
            batches += [(team, numbers[at:at + queries.BATCH]) for at in range(0, len(numbers), queries.BATCH)]
        for result in blocking.map_ordered(self._fetch, batches if len(wanted) > 1 else [], self.width):
            if isinstance(result, Exception) and not isinstance(result, OSError):
                raise result                                 # what failed is asked for again, one by one
        return super().read_many(paths)

    def _fetch(self, batch: tuple[str, list[int]]) -> None:
        team, numbers = batch
        filter = {"team": {"key": {"eq": team}}, "number": {"in": numbers}}
        for issue in self.client.nodes(queries.issues(), {"filter": filter}, "issues"):
            self.put(issue)

    # ---- after changes of ours

    def put(self, issue: Object) -> Object:
        """Keep a whole issue that came along with something else."""
        kept: Object = self.store.put(("issue", issue["identifier"]), self._whole(issue)).value
        return kept

    def changed(self, issue: Object) -> str:
        """We made or changed an issue, and Linear answered with all of it: the path of its file, below the mount."""
        self.put(issue)
        item, directory = brief(issue), f"/{issue['team']['key']}/issues"
        stem = safe_name(item["KEY__Title"])
        kept = self.store.peek((directory, 0, "list"), directory)
        old = [name for name, known in kept.value.items() if known["id"] == issue["id"]] if kept is not None else []
        if kept is not None:
            rest = {name: known for name, known in kept.value.items() if known["id"] != issue["id"]}
            kept.value = rest if issue["archivedAt"] else {stem: item, **rest}
        self.store.drop([f"{directory}/{name}" for name in {stem, *old}], below=False)
        parent = (issue.get("parent") or {}).get("identifier")
        if parent:
            self.forget(parent)
        return f"{directory}/{stem}.json"

    def forget(self, identifier: str) -> None:
        """What is kept of an issue is not true any more."""
        directory = f"/{identifier.partition('-')[0]}/issues"
        kept = self.store.peek((directory, 0, "list"), directory)
        names = (
            [name for name, item in kept.value.items() if item["identifier"] == identifier] if kept is not None else []
        )
        self.store.drop([f"/.issues/{identifier}", *(f"{directory}/{name}" for name in names)], below=False)

    def __repr__(self) -> str:
        return f"Linear({self.client.base})"


def brief(issue: Object) -> Object:
    """What names and listings need."""
    return {**{key: issue[key] for key in ("id", "identifier", "title", "updatedAt")},
            "KEY__Title": f"{issue['identifier']}__{safe_name(issue['title'])}"}
