"""The state behind the simulated Linear. Objects are dicts; what they are related to is named by id. Thread-safe."""
from __future__ import annotations

import pickle
import re
import threading
import unicodedata
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mirage.bench.services.linear.filters import matches

if TYPE_CHECKING:
    from mirage.bench.services.clock import Clock

    Object = dict[str, Any]

SPACE = uuid.UUID("0f1e2d3c-4b5a-4687-9788-a9bacbdcedfe")
STATES = (("Backlog", "backlog"), ("Todo", "unstarted"), ("In Progress", "started"), ("In Review", "started"),
          ("Done", "completed"), ("Canceled", "canceled"))
PRIORITIES = ("No priority", "Urgent", "High", "Medium", "Low")
PROJECT_STATES = (
    ("Backlog", "backlog"),
    ("Planned", "planned"),
    ("In Progress", "started"),
    ("Completed", "completed"),
)
# field -> (kind of the related objects, field that names them by id); "<": those that name this one
RELATIONS = {
    "issue": {
        "team": ("team", "teamId"),
        "state": ("state", "stateId"),
        "assignee": ("user", "assigneeId"),
        "creator": ("user", "creatorId"),
        "project": ("project", "projectId"),
        "cycle": ("cycle", "cycleId"),
        "parent": ("issue", "parentId"),
        "labels": ("label", "labelIds"),
        "comments": ("comment", "<issueId"),
        "children": ("issue", "<parentId"),
        "attachments": ("attachment", "<issueId"),
    },
    "comment": {"user": ("user", "userId"), "issue": ("issue", "issueId"), "parent": ("comment", "parentId")},
    "team": {
        "issues": ("issue", "<teamId"),
        "cycles": ("cycle", "<teamId"),
        "states": ("state", "<teamId"),
        "labels": ("label", "<teamId"),
        "members": ("user", "memberIds"),
        "projects": ("project", "<teamIds"),
    },
    "cycle": {"team": ("team", "teamId"), "issues": ("issue", "<cycleId")},
    "project": {
        "lead": ("user", "leadId"),
        "teams": ("team", "teamIds"),
        "accessibleTeams": ("team", "teamIds"),
        "status": ("projectStatus", "statusId"),
        "issues": ("issue", "<projectId"),
    },
    "state": {"team": ("team", "teamId")},
    "label": {"team": ("team", "teamId")},
    "user": {"teams": ("team", "<memberIds")},
    "attachment": {},
    "projectStatus": {},
}


class LinearError(Exception):
    """`code` and `type` are those of the answer's `extensions`."""

    def __init__(self, message: str, code: str = "INPUT_ERROR", type: str = "invalid input") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.type = type


class Workspace:
    def __init__(self, clock: Clock, seed: int = 1) -> None:
        self.clock = clock
        self.seed = seed
        self.lock = threading.RLock()
        self.count = 0
        self.me = ""
        self.items: dict[str, dict[str, Object]] = {kind: {} for kind in RELATIONS}
        self.numbers: dict[str, int] = {}
        self.inside: dict[str, list[str]] = {}               # issue -> its comments, for speed

    def stamp(self, at: float | None = None) -> str:
        when = datetime.fromtimestamp(self.clock.now() if at is None else at, UTC)
        return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03}Z"

    def add(self, kind: str, at: float | None = None, **fields: Any) -> Object:
        with self.lock:
            self.count += 1
            id = fields.pop("id", None) or str(uuid.uuid5(SPACE, f"{self.seed}/{self.count}"))
            if id in self.items[kind]:
                raise LinearError(f"Entity with this id already exists: {id}")
            stamp = self.stamp(at)
            item = {"kind": kind, "id": id, "createdAt": stamp, "updatedAt": stamp, "archivedAt": None, **fields}
            self.items[kind][id] = item
            if kind == "comment":
                self.inside.setdefault(item["issueId"], []).append(id)
            return item

    # ---- looking

    def find(self, kind: str, id: str) -> Object:
        """By id; issues also by identifier, teams by key, projects by slug."""
        found = self.items[kind].get(id)
        if found is None and kind in ("issue", "team", "project"):
            field = {"issue": "identifier", "team": "key", "project": "slugId"}[kind]
            found = next((i for i in self.items[kind].values() if i[field].casefold() == id.casefold()), None)
        if found is None:
            name = {"state": "WorkflowState", "label": "IssueLabel"}.get(kind, kind[0].upper() + kind[1:])
            raise LinearError(f"Entity not found: {name} - Could not find referenced {name}.")
        return found

    def related(self, item: Object, field: str) -> Any:
        """A related object, or the list of them, by RELATIONS; another field's value."""
        relation = RELATIONS[item["kind"]].get(field)
        if relation is None:
            return self.value(item, field)
        kind, by = relation
        if not by.startswith("<"):
            if by.endswith("Ids"):
                return [self.items[kind][id] for id in item[by]]
            return self.items[kind].get(item.get(by) or "")
        if kind == "comment":
            return [self.items[kind][id] for id in self.inside.get(item["id"], ())]
        found = [i for i in self.items[kind].values() if item["id"] in i[by[1:]]] if by.endswith("Ids") else \
            [i for i in self.items[kind].values() if i.get(by[1:]) == item["id"]]
        if item["kind"] == "team" and kind == "label":       # labels of the workspace too
            found += [i for i in self.items[kind].values() if i["teamId"] is None]
        return found

    def value(self, item: Object, field: str) -> Any:
        if field == "isMe":
            return item["id"] == self.me
        if field in ("isActive", "isNext", "isPrevious"):
            now, (start, end) = self.stamp(), (item["startsAt"], item["endsAt"])
            return {"isActive": start <= now < end, "isNext": start > now, "isPrevious": end <= now}[field]
        if field == "url":
            return self.url(item)
        return item.get(field)

    def url(self, item: Object) -> str:
        base = "https://linear.app/norrsken"
        if item["kind"] == "issue":
            return f"{base}/issue/{item['identifier']}/{slug(item['title'])}"
        if item["kind"] == "comment":
            return f"{base}/issue/{self.items['issue'][item['issueId']]['identifier']}#comment-{item['id'][:8]}"
        if item["kind"] == "project":
            return f"{base}/project/{slug(item['name'])}-{item['slugId']}"
        return str(item.get("url", base))

    def select(
        self, items: list[Object], filter: Any = None, archived: bool = False, order: str = "createdAt"
    ) -> list[Object]:
        """Filtered, newest first."""
        with self.lock:
            found = [i for i in items if archived or not i["archivedAt"]]
            if filter:
                found = [i for i in found if matches(i, filter, self.related)]
        return sorted(found, key=lambda i: (i[order], i["id"]), reverse=True)

    def search(self, term: str, comments: bool = False) -> list[Object]:
        """Issues that have every word in title or description (or a comment)."""
        words = {w.casefold() for w in re.findall(r"\w+", term)}
        found = []
        for issue in self.items["issue"].values():
            texts = [issue["title"], issue["description"] or ""]
            texts += [c["body"] for c in self.related(issue, "comments")] if comments else []
            if words <= {w.casefold() for text in texts for w in re.findall(r"\w+", text)}:
                found.append(issue)
        return found

    # ---- changes

    def create_issue(self, at: float | None = None, creator: str = "", **given: Any) -> Object:
        with self.lock:
            team = self.find("team", given["teamId"])
            if given.get("title") is None:
                raise LinearError("title must be a string")
            self._check(given, team)
            number = self.numbers[team["id"]] = self.numbers.get(team["id"], 0) + 1
            states = self.related(team, "states")
            state = given.get("stateId") or states[0]["id"]
            issue = self.add(
                "issue",
                at,
                **{
                    "description": None,
                    "priority": 0,
                    "estimate": None,
                    "assigneeId": None,
                    "labelIds": [],
                    "projectId": None,
                    "cycleId": None,
                    "parentId": None,
                    "dueDate": None,
                    "startedAt": None,
                    "completedAt": None,
                    "canceledAt": None,
                    "trashed": None,
                    **{k: v for k, v in given.items() if v is not None},
                    "teamId": team["id"],
                    "stateId": state,
                    "number": number,
                    "identifier": f"{team['key']}-{number}",
                    "creatorId": creator or self.me,
                },
            )
            self._moved(issue, at)
            return issue

    def _check(self, given: Object, team: Object) -> None:
        for field, kind in (
            ("assigneeId", "user"),
            ("stateId", "state"),
            ("projectId", "project"),
            ("cycleId", "cycle"),
            ("parentId", "issue"),
        ):
            if given.get(field):
                found = self.find(kind, given[field])
                given[field] = found["id"]
                if kind == "state" and found["teamId"] != team["id"]:
                    raise LinearError("Discrepancy between issue state and team: the state is not of this team.")
        for id in given.get("labelIds") or []:
            self.find("label", id)
        if not 0 <= (given.get("priority") or 0) <= 4:
            raise LinearError("priority must not be greater than 4")

    def _moved(self, issue: Object, at: float | None = None) -> None:
        kind = self.items["state"][issue["stateId"]]["type"]
        stamp = self.stamp(at)
        issue["startedAt"] = issue["startedAt"] or (stamp if kind in ("started", "completed") else None)
        issue["completedAt"] = stamp if kind == "completed" else None
        issue["canceledAt"] = stamp if kind == "canceled" else None
        issue["priorityLabel"] = PRIORITIES[int(issue["priority"])]
        issue["branchName"] = f"mara/{issue['identifier'].lower()}-{slug(issue['title'])}"

    def update_issue(self, id: str, given: Object) -> Object:
        with self.lock:
            issue = self.find("issue", id)
            self._check(given, self.items["team"][issue["teamId"]])
            issue.update(given, updatedAt=self.stamp())
            if given.get("trashed"):
                issue["archivedAt"] = self.stamp()
            self._moved(issue)
            return issue

    def comment(
        self, issue: str, body: str, user: str = "", parent: str | None = None, at: float | None = None
    ) -> Object:
        with self.lock:
            if not body:
                raise LinearError("body must not be empty")
            found = self.find("issue", issue)
            if parent:
                self.find("comment", parent)
            return self.add(
                "comment", at, issueId=found["id"], body=body, userId=user or self.me, parentId=parent, editedAt=None
            )

    # ---- comparing

    def state(self) -> dict[str, Any]:
        with self.lock:
            return {
                id: {k: v for k, v in item.items() if k != "updatedAt"}
                for items in self.items.values()
                for id, item in items.items()
            }

    def snapshot(self) -> Any:
        with self.lock:
            return pickle.dumps({k: v for k, v in vars(self).items() if k not in ("lock", "clock")})

    def restore(self, snapshot: Any) -> None:
        with self.lock:
            vars(self).update(pickle.loads(snapshot))


def slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60]
