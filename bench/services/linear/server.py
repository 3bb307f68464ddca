"""The simulator: POST /graphql, executed by graphql-core against schema.graphql; complexity and limits as Linear's."""
from __future__ import annotations

import functools
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, GraphQLResolveInfo, GraphQLSchema, build_schema, execute, parse, validate
from graphql.language import (
    FieldNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    VariableNode,
)

from mirage.bench.services.clock import Clock
from mirage.bench.services.http import LogEntry, Request, Response, Service
from mirage.bench.services.linear.seed import NOW, fill
from mirage.bench.services.linear.workspace import RELATIONS, LinearError, Workspace

if TYPE_CHECKING:
    Object = dict[str, Any]

TOKEN = "lin_api_simulator"
CODES = {400: "INPUT_ERROR", 401: "AUTHENTICATION_ERROR", 403: "FORBIDDEN", 404: "INPUT_ERROR", 429: "RATELIMITED"}
MOST, DEFAULT = 250, 50                                      # items of a page
COMPLEXITY = 10_000
TYPES = {"Issue": "issue", "Team": "team", "User": "user", "Comment": "comment", "Cycle": "cycle", "Project": "project",
         "WorkflowState": "state", "IssueLabel": "label", "Attachment": "attachment", "ProjectStatus": "projectStatus"}
LISTS = {"teams": "team", "issues": "issue", "projects": "project", "cycles": "cycle", "users": "user",
         "workflowStates": "state", "issueLabels": "label"}


@functools.cache
def _schema() -> GraphQLSchema:
    return build_schema((files(__package__) / "schema.graphql").read_text())


class LinearSimulator(Service):
    """One workspace.

    issues  how many the seed makes
    hourly  requests an hour before RATELIMITED; 0: no limit
    """

    def __init__(self, seed: int = 1, issues: int = 300, clock: Clock | None = None, hourly: int = 0) -> None:
        super().__init__()
        self.clock = clock or Clock(NOW)
        self.hourly = hourly
        self.used = 0
        self.tokens = {TOKEN}
        self.schema = _schema()
        self.workspace: Workspace
        self._issues = issues
        self.reset(seed, issues)

    def reset(self, seed: int = 1, issues: int | None = None) -> None:
        """A new workspace with the issues of the seed, in the size that it had unless another is given."""
        self._issues = issues = self._issues if issues is None else issues
        self.workspace = Workspace(self.clock, seed)
        fill(self.workspace, seed, issues)

    @property
    def kept(self) -> Workspace:
        return self.workspace

    # ---- requests

    def error(
        self, status: int, message: str = "", headers: dict[str, str] | None = None, reason: str = ""
    ) -> Response:
        """Refusals of the limiter come with status 400, as Linear's do."""
        code = reason or CODES.get(status, "INTERNAL_SERVER_ERROR")
        more = {}
        if code == "RATELIMITED":
            wait = float((headers or {}).get("Retry-After", 1))
            more = {
                "X-RateLimit-Requests-Remaining": "0",
                "X-RateLimit-Requests-Reset": str(int((time.time() + wait) * 1000)),
            }
            status, headers, message = 400, {}, message or "Rate limit exceeded"
        body = {"errors": [{"message": message or code.replace("_", " ").capitalize(), "extensions": {
            "type": code.lower().replace("_", " "), "code": code, "statusCode": status, "userError": status < 500,
            "userPresentableMessage": message}}]}
        return Response.of_json(body, status, {**(headers or {}), **more})

    def handle(self, request: Request, entry: LogEntry) -> Response:
        if request.path != "/graphql" or request.method != "POST":
            return Response(404, b"Not found", {"Content-Type": "text/plain"})
        given = request.headers.get("authorization", "")
        if given.removeprefix("Bearer ") not in self.tokens or given == f"Bearer {TOKEN}":
            return self.error(401, "Authentication required, not authenticated")
        self.used += 1
        if self.hourly and self.used > self.hourly:
            return self.error(429)
        body = request.json()
        variables = body.get("variables") or {}
        try:
            document = parse(body["query"])
        except (GraphQLError, KeyError) as e:
            return self._errors([GraphQLError(str(e))], "GRAPHQL_PARSE_FAILED", 400)
        wrong = validate(self.schema, document)
        if wrong:
            return self._errors(wrong, "GRAPHQL_VALIDATION_FAILED", 400)
        operation = next(d for d in document.definitions if isinstance(d, OperationDefinitionNode))
        entry.query = {
            "operation": [operation.name.value if operation.name else ""],
            "kind": [operation.operation.value],
        }
        cost = Complexity(document, variables).of(operation.selection_set, 1)
        if cost > COMPLEXITY:
            return self.error(400, "Query too complex")
        result: Any = execute(self.schema, document, root_value={}, variable_values=variables,
                              field_resolver=self._resolve)
        headers = {"X-Complexity": str(round(cost)), "X-RateLimit-Requests-Limit": str(self.hourly or 5000)}
        answer: Object = {"data": result.data}
        if result.errors:
            return self._errors(result.errors, "INPUT_ERROR", 200, result.data)
        return Response.of_json(answer, 200, headers)

    @staticmethod
    def _errors(errors: Any, code: str, status: int, data: Any = None) -> Response:
        shown = []
        for error in errors:
            cause = error.original_error
            told = cause if isinstance(cause, LinearError) else LinearError(error.message, code, "graphql error")
            shown.append(
                {
                    "message": told.message,
                    "path": error.path,
                    "extensions": {
                        "type": told.type,
                        "code": told.code,
                        "statusCode": 400,
                        "userError": True,
                        "userPresentableMessage": told.message,
                    },
                }
            )
        return Response.of_json({"errors": shown, **({"data": data} if status == 200 else {})}, status)

    # ---- fields

    def _resolve(self, source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        space, field = self.workspace, info.field_name
        if info.parent_type.name == "Mutation":
            return getattr(self, f"_{field}")(**arguments)
        if info.parent_type.name == "Query":
            return self._root(field, arguments)
        if "kind" not in source:                             # a connection, pageInfo, a payload
            return source[field]
        value = space.related(source, field)
        if isinstance(value, list) and field in RELATIONS[source["kind"]]:
            order = space.select(value, arguments.get("filter"), arguments.get("includeArchived", False))
            return self._connection(order, arguments)
        return value

    def _root(self, field: str, arguments: Object) -> Any:
        space = self.workspace
        if field == "viewer":
            return space.items["user"][space.me]
        if field == "organization":
            return {"id": "org", "name": "Norrsken Instruments", "urlKey": "norrsken"}
        if field in LISTS:
            found = space.select(list(space.items[LISTS[field]].values()), arguments.get("filter"),
                                 arguments.get("includeArchived", False), arguments.get("orderBy") or "createdAt")
            return self._connection(found, arguments)
        if field == "searchIssues":
            found = space.select(
                space.search(arguments["term"], arguments.get("includeComments", False)), arguments.get("filter")
            )
            if arguments.get("teamId"):
                found = [i for i in found if i["teamId"] == arguments["teamId"]]
            return {**self._connection(found, arguments), "totalCount": len(found)}
        return space.find(field, arguments["id"])

    @staticmethod
    def _connection(items: list[Object], arguments: Object) -> Object:
        first = arguments.get("first") or DEFAULT
        if not 1 <= first <= MOST:
            raise LinearError(f"first must not be greater than {MOST}")
        at = 0
        if arguments.get("after"):
            at = next((n + 1 for n, item in enumerate(items) if item["id"] == arguments["after"]), -1)
            if at < 0:
                raise LinearError("after is not a valid cursor")
        page = items[at:at + first]
        return {"nodes": page, "pageInfo": {
            "hasNextPage": at + first < len(items), "hasPreviousPage": at > 0,
            "startCursor": page[0]["id"] if page else None, "endCursor": page[-1]["id"] if page else None}}

    # ---- mutations

    def _issueCreate(self, input: Object) -> Object:
        return {"success": True, "lastSyncId": 1, "issue": self.workspace.create_issue(**input)}

    def _issueUpdate(self, id: str, input: Object) -> Object:
        return {"success": True, "lastSyncId": 1, "issue": self.workspace.update_issue(id, input)}

    def _issueArchive(self, id: str, trash: bool = False) -> Object:
        issue = self.workspace.find("issue", id)
        issue["archivedAt"] = self.workspace.stamp()
        return {"success": True, "lastSyncId": 1, "entity": issue}

    def _commentCreate(self, input: Object) -> Object:
        made = self.workspace.comment(input.get("issueId") or "", input.get("body") or "", parent=input.get("parentId"))
        return {"success": True, "lastSyncId": 1, "comment": made}

    def _projectCreate(self, input: Object) -> Object:
        space = self.workspace
        input["teamIds"] = [space.find("team", id)["id"] for id in input["teamIds"]]
        if not input["teamIds"]:
            raise LinearError("teamIds must contain at least 1 elements")
        backlog = next(s["id"] for s in space.items["projectStatus"].values() if s["type"] == "backlog")
        made = space.add(
            "project",
            **{
                "description": "",
                "content": None,
                "leadId": None,
                "startDate": None,
                "targetDate": None,
                "priority": 0,
                "progress": 0,
                "state": "backlog",
                "statusId": backlog,
                **input,
            },
        )
        made["slugId"] = made["id"].replace("-", "")[:12]
        return {"success": True, "lastSyncId": 1, "project": made}

    def _projectUpdate(self, id: str, input: Object) -> Object:
        project = self.workspace.find("project", id)
        project.update(input, updatedAt=self.workspace.stamp())
        project["state"] = self.workspace.items["projectStatus"][project["statusId"]]["type"]
        return {"success": True, "lastSyncId": 1, "project": project}

    def _issueLabelCreate(self, input: Object) -> Object:
        made = self.workspace.add(
            "label", **{"color": "#bec2c8", "description": None, "teamId": None, "isGroup": False, **input}
        )
        return {"success": True, "lastSyncId": 1, "issueLabel": made}


class Complexity:
    """A tenth for each value, one for each object, the items of a connection times what is asked of each."""

    def __init__(self, document: Any, variables: Object) -> None:
        self.fragments = {d.name.value: d for d in document.definitions if d.kind == "fragment_definition"}
        self.variables = variables

    def of(self, selection: Any, times: int) -> float:
        total = 0.0
        for node in selection.selections:
            if isinstance(node, FragmentSpreadNode):
                total += self.of(self.fragments[node.name.value].selection_set, times)
            elif isinstance(node, InlineFragmentNode):
                total += self.of(node.selection_set, times)
            elif isinstance(node, FieldNode) and node.selection_set is None:
                total += 0.1 * times
            elif isinstance(node, FieldNode) and node.selection_set is not None:
                fields = [n for n in node.selection_set.selections if isinstance(n, FieldNode)]
                total += times + self.of(node.selection_set, times)
                for one in (n for n in fields if n.name.value == "nodes"):   # counted once already
                    more = times * (self._first(node) - 1)
                    total += more + self.of(one.selection_set, more)
        return total

    def _first(self, node: FieldNode) -> int:
        for argument in node.arguments or ():
            if argument.name.value == "first":
                if isinstance(argument.value, IntValueNode):
                    return int(argument.value.value)
                if isinstance(argument.value, VariableNode):
                    return int(self.variables.get(argument.value.name.value) or DEFAULT)
        return DEFAULT
