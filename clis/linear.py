"""`linear`: the operations of the usual Linear tools of agents (mounts/linear/operations.json). Names stand for ids."""
from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from mirage.clis._accounts import account
from mirage.clis._tables import operations
from mirage.clis.framework import OperationError, VirtualCli, explained
from mirage.mounts.linear import queries
from mirage.mounts.linear.tree import KEY, Linear
from mirage.process import blocking
from mirage.vfs.declare.store import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount

    Values = dict[str, Any]

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TEAM = f"""query Team($id: String!) {{ team(id: $id) {{ id key name
  states(first: 100) {{ nodes {{ id name type }} }} labels(first: 250) {{ nodes {{ id name }} }}
  members(first: 250) {{ nodes {{ {queries.USER} }} }} projects(first: 250) {{ nodes {{ id name slugId }} }}
  cycles(first: 250) {{ nodes {{ id number name isActive isNext isPrevious startsAt endsAt }} }} }} }}"""
USERS = f"""query Users($after: String) {{
  users(first: 250, after: $after) {{ nodes {{ {queries.USER} isMe }} {queries.PAGE} }} }}"""
LABELS = f"""query Labels($after: String) {{
  issueLabels(first: 250, after: $after) {{ nodes {{ id name color }} {queries.PAGE} }} }}"""
SHORT = """id identifier title priorityLabel dueDate createdAt updatedAt state { name } assignee { name }
  project { name }"""
ISSUES = f"""query List($filter: IssueFilter, $first: Int, $after: String, $orderBy: PaginationOrderBy,
  $includeArchived: Boolean) {{
  issues(filter: $filter, first: $first, after: $after, orderBy: $orderBy, includeArchived: $includeArchived) {{
    nodes {{ {SHORT} }} {queries.PAGE} }} }}"""
SEARCH = f"""query Search($term: String!, $first: Int, $after: String, $teamId: String, $includeComments: Boolean) {{
  searchIssues(term: $term, first: $first, after: $after, teamId: $teamId, includeComments: $includeComments) {{
    nodes {{ {SHORT} }} {queries.PAGE} totalCount }} }}"""
PROJECTS = f"""query Projects($filter: ProjectFilter, $first: Int, $after: String, $includeArchived: Boolean) {{
  projects(filter: $filter, first: $first, after: $after, includeArchived: $includeArchived) {{
    nodes {{ {queries.PROJECT} }} {queries.PAGE} }} }}"""
KEPT = 300.0                                                 # seconds that states, labels and people are taken to last


class LinearCli(VirtualCli):
    """The workspace of `mount`; `point` is where it is mounted, for the paths in results (None: nowhere)."""

    description = "Make and change issues, comment, look. Teams, people, states and labels by their names."

    def __init__(self, mount: Linear, point: str | None = "/linear", name: str = "linear") -> None:
        super().__init__()
        self.name = name
        self.mount = mount
        self.client = mount.client
        self.counters = mount.counters
        self.point = point
        self.operations = operations("linear", LinearCli.perform)

    def perform(self, name: str, row: Values, values: Values) -> Any:
        method: Callable[[Values], Any] = getattr(self, "_" + name.replace("-", "_"))
        try:
            return blocking.call(method, values)
        except OSError as e:
            if row["effects"] != ["read"] and getattr(e, "status", 0) not in range(400, 500):
                self.mount.store.clear()                     # nobody knows what was done
            raise explained(e) from None

    def _change(self, name: str, declared: str, asked: str, variables: Values) -> Any:
        """A mutation, sent once; what it answers."""
        inside = ", ".join(f"{key}: ${key}" for key in variables)
        text = f"mutation {name}({declared}) {{ {name[0].lower()}{name[1:]}({inside}) {{ success {asked} }} }}"
        answer = self.client.query(text, variables, safe=False)[name[0].lower() + name[1:]]
        if not answer["success"]:
            raise OperationError(f"{name} was not carried out", "error")
        return answer

    # ---- names

    def _team(self, text: str) -> Values:
        """A team with its states, labels, people, projects and cycles."""
        id = _pick("team", self.mount.teams(), text.strip("/").rpartition("/")[2], "key", "name")["id"]
        found: Values = self.mount.store.get(("cli", id), "/.cli", lambda _: Kept(
            self.client.query(TEAM, {"id": id})["team"], 0), KEPT).value
        return found

    def _users(self) -> list[Values]:
        users: list[Values] = self.mount.store.get(("cli", "users"), "/.cli", lambda _: Kept(
            self.client.nodes(USERS, {}, "users"), 0), KEPT).value
        return users

    def _user(self, text: str) -> Values:
        if text == "me":
            return next(user for user in self._users() if user["isMe"])
        return _pick("user", self._users(), text, "name", "displayName", "email")

    @staticmethod
    def _state(team: Values, text: str) -> Values:
        return _pick("state", team["states"]["nodes"], text, "name", "type")

    @staticmethod
    def _cycle(team: Values, text: str) -> Values:
        cycles = team["cycles"]["nodes"]
        if text == "current":
            return _pick("cycle", [c for c in cycles if c["isActive"]], text, always=True)
        return _pick("cycle", [{**c, "text": f"{c['number']:g}"} for c in cycles], text, "text", "name")

    def _input(self, values: Values, team: Values) -> Values:
        """The arguments of an issue with ids for names."""
        given: Values = {
            key: values[key] for key in ("title", "description", "priority", "estimate", "dueDate") if key in values
        }
        if "assignee" in values:
            given["assigneeId"] = self._user(values["assignee"])["id"] if values["assignee"] else None
        if "state" in values:
            given["stateId"] = self._state(team, values["state"])["id"]
        if "labels" in values:
            given["labelIds"] = [
                _pick("label", team["labels"]["nodes"], name, "name")["id"] for name in values["labels"]
            ]
        if "project" in values:
            given["projectId"] = _pick(
                "project", team["projects"]["nodes"], _base(values["project"]), "name", "slugId"
            )["id"]
        if "cycle" in values:
            given["cycleId"] = self._cycle(team, values["cycle"])["id"]
        if "parentId" in values:
            given["parentId"] = self._uuid(values["parentId"])
        return given

    def _uuid(self, text: str) -> str:
        """The id of an issue by its key, id or path."""
        return text if UUID.fullmatch(text) else str(self.mount.issue(_key(text))["id"])

    def _changed(self, issue: Values) -> Values:
        path = self.mount.changed(issue)
        return {"id": issue["id"], "identifier": issue["identifier"], "title": issue["title"], "url": issue["url"],
                **({"path": self.point.rstrip("/") + path} if self.point is not None else {})}

    # ---- issues

    def _list_issues(self, v: Values) -> Any:
        team = self._team(v["team"]) if "team" in v else None
        parts: list[Values] = [{"team": {"id": {"eq": team["id"]}}}] if team else []
        if "query" in v:
            has = {"containsIgnoreCase": v["query"]}
            parts.append({"or": [{"title": has}, {"description": has}]})
        if "state" in v:
            same = {"eqIgnoreCase": v["state"]}
            parts.append({"state": {"or": [{"name": same}, {"type": same}]}})
        if "assignee" in v:
            parts.append({"assignee": {"id": {"eq": self._user(v["assignee"])["id"]}}})
        if "label" in v:
            parts.append({"labels": {"name": {"eqIgnoreCase": v["label"]}}})
        if "project" in v:
            name = _base(v["project"])
            parts.append({"project": {"or": [{"name": {"eqIgnoreCase": name}}, {"slugId": {"eq": name}}]}})
        if "cycle" in v:
            current = v["cycle"] == "current"
            number = (
                {"number": {"eq": float(v["cycle"])}}
                if v["cycle"].isdigit()
                else {"name": {"eqIgnoreCase": v["cycle"]}}
            )
            parts.append({"cycle": {"isActive": {"eq": True}} if current else number})
        if "priority" in v:
            parts.append({"priority": {"eq": v["priority"]}})
        if "parentId" in v:
            parts.append({"parent": {"id": {"eq": self._uuid(v["parentId"])}}})
        parts += [{key: {"gte": _since(v[key])}} for key in ("createdAt", "updatedAt") if key in v]
        return self.client.query(ISSUES, {
            "filter": {"and": parts} if parts else None, "first": v["limit"], "after": v.get("cursor"),
            "orderBy": v["orderBy"], "includeArchived": v["includeArchived"]})["issues"]

    def _get_issue(self, v: Values) -> Any:
        return self.client.query(queries.issue(), {"id": _key(v["id"])})["issue"]

    def _create_issue(self, v: Values) -> Any:
        team = self._team(v["team"])
        answer = self._change("IssueCreate", "$input: IssueCreateInput!", f"issue {{ {_whole()} }}",
                              {"input": {"teamId": team["id"], **self._input(v, team)}})
        return self._changed(answer["issue"])

    def _update_issue(self, v: Values) -> Any:
        key = _key(v["id"])
        named = any(name in v for name in ("state", "labels", "project", "cycle"))
        team = self._team(self.mount.issue(key)["team"]["key"]) if named else {}
        answer = self._change("IssueUpdate", "$id: String!, $input: IssueUpdateInput!", f"issue {{ {_whole()} }}",
                              {"id": key, "input": self._input(v, team)})
        return self._changed(answer["issue"])

    def _search_issues(self, v: Values) -> Any:
        team = self._team(v["team"])["id"] if "team" in v else None
        return self.client.query(
            SEARCH,
            {
                "term": v["query"],
                "first": v["limit"],
                "after": v.get("cursor"),
                "teamId": team,
                "includeComments": v["includeComments"],
            },
        )["searchIssues"]

    def _list_comments(self, v: Values) -> Any:
        return {"comments": self.mount.issue(_key(v["issueId"]))["comments"]["nodes"]}

    def _create_comment(self, v: Values) -> Any:
        given: Values = {
            "issueId": self._uuid(v["issueId"]),
            "body": v["body"],
            **({"parentId": v["parentId"]} if "parentId" in v else {}),
        }
        answer = self._change(
            "CommentCreate",
            "$input: CommentCreateInput!",
            f"comment {{ id createdAt issue {{ {_whole()} }} }}",
            {"input": given},
        )["comment"]
        issue = self._changed(answer["issue"])
        return {"id": answer["id"], "createdAt": answer["createdAt"], "issue": issue["identifier"],
                **{key: issue[key] for key in ("path",) if key in issue}}

    # ---- projects

    def _list_projects(self, v: Values) -> Any:
        parts: list[Values] = [{"accessibleTeams": {"id": {"eq": self._team(v["team"])["id"]}}}] if "team" in v else []
        parts += [{"name": {"containsIgnoreCase": v["query"]}}] if "query" in v else []
        return self.client.query(
            PROJECTS,
            {
                "filter": {"and": parts} if parts else None,
                "first": v["limit"],
                "after": v.get("cursor"),
                "includeArchived": v["includeArchived"],
            },
        )["projects"]

    def _project(self, text: str) -> Values:
        name = _base(text)
        id = {"id": {"eq": name}} if UUID.fullmatch(name) else {"slugId": {"eq": name}}
        found = self.client.query(PROJECTS, {"filter": {"or": [{"name": {"eqIgnoreCase": name}}, id]}, "first": 10})
        return _pick("project", found["projects"]["nodes"], name, always=True)

    def _get_project(self, v: Values) -> Any:
        return self._project(v["query"])

    def _project_input(self, v: Values) -> Values:
        given: Values = {
            key: v[key] for key in ("name", "description", "content", "priority", "startDate", "targetDate") if key in v
        }
        return {**given, **({"leadId": self._user(v["lead"])["id"]} if "lead" in v else {})}

    def _create_project(self, v: Values) -> Any:
        teams = [self._team(name)["id"] for name in v["team"].split(",")]
        return self._project_changed(
            self._change(
                "ProjectCreate",
                "$input: ProjectCreateInput!",
                f"project {{ {queries.PROJECT} }}",
                {"input": {**self._project_input(v), "teamIds": teams}},
            )
        )

    def _update_project(self, v: Values) -> Any:
        id = self._project(v["id"])["id"]
        return self._project_changed(
            self._change(
                "ProjectUpdate",
                "$id: String!, $input: ProjectUpdateInput!",
                f"project {{ {queries.PROJECT} }}",
                {"id": id, "input": self._project_input(v)},
            )
        )

    def _project_changed(self, answer: Values) -> Any:
        teams = [team["key"] for team in answer["project"]["teams"]["nodes"]]
        self.mount.store.drop([f"/{key}/projects" for key in teams] + ["/.cli"])
        return answer["project"]

    # ---- looking

    def _list_teams(self, v: Values) -> Any:
        wanted = v.get("query", "").casefold()
        return {"teams": [{k: t[k] for k in ("id", "key", "name", "description")} for t in self.mount.teams()
                          if wanted in f"{t['key']} {t['name']}".casefold()]}

    def _get_team(self, v: Values) -> Any:
        team = self._team(v["query"])
        return {key: value["nodes"] if isinstance(value, dict) else value for key, value in team.items()}

    def _list_users(self, v: Values) -> Any:
        users = self._team(v["team"])["members"]["nodes"] if "team" in v else self._users()
        wanted = v.get("query", "").casefold()
        return {"users": [u for u in users if wanted in f"{u['name']} {u['displayName']} {u['email']}".casefold()]}

    def _get_user(self, v: Values) -> Any:
        return self._user(v["query"])

    def _list_issue_statuses(self, v: Values) -> Any:
        return {"statuses": self._team(v["team"])["states"]["nodes"]}

    def _list_issue_labels(self, v: Values) -> Any:
        labels = (
            self._team(v["team"])["labels"]["nodes"] if "team" in v else self.client.nodes(LABELS, {}, "issueLabels")
        )
        return {"labels": [label for label in labels if v.get("name", "").casefold() in label["name"].casefold()]}

    def _create_issue_label(self, v: Values) -> Any:
        given: Values = {key: v[key] for key in ("name", "color", "description") if key in v}
        if "team" in v:
            given["teamId"] = self._team(v["team"])["id"]
        answer = self._change(
            "IssueLabelCreate", "$input: IssueLabelCreateInput!", "issueLabel { id name color }", {"input": given}
        )
        self.mount.store.drop(["/.cli"])
        return answer["issueLabel"]

    def _list_cycles(self, v: Values) -> Any:
        flag = {"current": "isActive", "previous": "isPrevious", "next": "isNext"}.get(v.get("type", ""))
        return {"cycles": [c for c in self._team(v["teamId"])["cycles"]["nodes"] if flag is None or c[flag]]}


def _whole() -> str:
    """The fields of a whole issue, written out: mutations are put together without fragments."""
    return queries.whole().partition("{")[2].rpartition("}")[0]


def _pick(kind: str, items: list[Values], text: str, *fields: str, always: bool = False) -> Values:
    """The one item that a text names, by its id or one of the fields; OperationError where that is not one."""
    for field in ("id", *fields):
        found = [i for i in items if always or str(i.get(field) or "").casefold() == text.casefold()]
        if len(found) == 1 or found and field == "type":
            return found[0]
        if found:
            raise OperationError(
                f"{text!r} is the {kind} {', '.join(str(i['id']) for i in found)}: give the id", "ambiguous"
            )
    known = ", ".join(str(i.get(fields[0])) for i in items[:20]) if fields else ""
    raise OperationError(f"no {kind} {text!r}" + (f"; there are: {known}" if known else ""), "not_found")


def _base(text: str) -> str:
    """The name in a path such as /linear/ENG/projects/Apollo.json; other text is a name itself."""
    return text.rpartition("/")[2].removesuffix(".json").removesuffix(".md") if text.startswith("/") else text


def _key(text: str) -> str:
    """The key in a path such as /linear/ENG/issues/ENG-1__Title.json; other text is a key or id itself."""
    name = text.rpartition("/")[2].partition("__")[0]
    return name if KEY.fullmatch(name) else text


def _since(text: str) -> str:
    """A date, or `-P7D`: so many days ago."""
    days = re.fullmatch(r"-P(\d{1,4})D", text)
    return (datetime.now(UTC) - timedelta(days=int(days.group(1)))).isoformat() if days else text


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> LinearCli:
    """For mirage.yaml. Without options, or with those of a linear mount's account, the mount's connection is used."""
    return LinearCli(*account(name, "linear", Linear, options, mounts, folder), name)
