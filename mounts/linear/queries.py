"""What is asked of Linear. Each query has the fields that files show, and no others."""
from __future__ import annotations

BRIEF = "id identifier title updatedAt"
USER = "id name displayName email active admin"
CYCLE = "id number name description startsAt endsAt completedAt progress createdAt updatedAt"
PROJECT = """id slugId name description content state progress priority startDate targetDate url createdAt updatedAt
  lead { name displayName } teams(first: 20) { nodes { key } }"""
# the fields of an issue that are lists: (what is asked of each, how many at first)
LISTS = {"labels": ("name", 20), "children": ("identifier title", 20), "attachments": ("title url", 20),
         "comments": ("id body createdAt updatedAt user { name displayName } parent { id }", 30)}
ISSUE = """id identifier number title description priority priorityLabel estimate dueDate url createdAt updatedAt
  startedAt completedAt canceledAt archivedAt team { id key name } state { name type } assignee { name displayName }
  creator { name displayName } project { name } cycle { number name } parent { identifier title }"""
BATCH = 40                                                   # whole issues in a request: complexity below 10,000
PAGE = "pageInfo { hasNextPage endCursor }"


def whole() -> str:
    """All of an issue, as a fragment `Whole`."""
    lists = " ".join(f"{name}(first: {n}) {{ nodes {{ {fields} }} {PAGE} }}" for name, (fields, n) in LISTS.items())
    return f"fragment Whole on Issue {{ {ISSUE} {lists} }}"


def teams() -> str:
    return f"""query Teams($after: String) {{ organization {{ name urlKey }}
  teams(first: 100, after: $after) {{ nodes {{ id key name description createdAt updatedAt }} {PAGE} }} }}"""


def of_team(name: str, field: str, fields: str, first: int = 250) -> str:
    """A list of a team, page by page."""
    return f"""query {name}($id: String!, $after: String) {{ team(id: $id) {{
  {field}(first: {first}, after: $after) {{ nodes {{ {fields} }} {PAGE} }} }} }}"""


def issue() -> str:
    return f"query Issue($id: String!) {{ issue(id: $id) {{ ...Whole }} }} {whole()}"


def more(field: str) -> str:
    """The rest of a list of an issue."""
    return f"""query More($id: String!, $after: String) {{ issue(id: $id) {{
  {field}(first: 100, after: $after) {{ nodes {{ {LISTS[field][0]} }} {PAGE} }} }} }}"""


def issues(fields: str = "...Whole", first: int = BATCH) -> str:
    """Issues by a filter, page by page."""
    fragment = whole() if "...Whole" in fields else ""
    return f"""query Issues($filter: IssueFilter, $after: String) {{
  issues(first: {first}, after: $after, filter: $filter) {{ nodes {{ {fields} }} {PAGE} }} }} {fragment}"""
