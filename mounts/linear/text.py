"""An issue or project as Markdown."""
from __future__ import annotations

from typing import Any

Object = dict[str, Any]
FACTS = (
    ("Status", "state.name"),
    ("Priority", "priorityLabel"),
    ("Assignee", "assignee.name"),
    ("Creator", "creator.name"),
    ("Project", "project.name"),
    ("Cycle", "cycle.number"),
    ("Estimate", "estimate"),
    ("Due", "dueDate"),
    ("Parent", "parent.identifier"),
    ("Created", "createdAt"),
    ("Completed", "completedAt"),
    ("Link", "url"),
)
PROJECT_FACTS = (
    ("Status", "state"),
    ("Lead", "lead.name"),
    ("Start", "startDate"),
    ("Target", "targetDate"),
    ("Link", "url"),
)


def _facts(item: Object, wanted: tuple[tuple[str, str], ...]) -> list[str]:
    lines = []
    for name, path in wanted:
        value: Any = item
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value not in (None, ""):
            lines.append(f"- {name}: {value:g}" if isinstance(value, float) else f"- {name}: {value}")
    return lines


def issue_text(issue: Object) -> str:
    """Title, facts, description, then the comments in order, answers below what they answer."""
    facts = _facts(issue, FACTS)
    labels = [label["name"] for label in issue["labels"]["nodes"]]
    facts += [f"- Labels: {', '.join(labels)}"] if labels else []
    facts += [
        f"- Sub-issue: {child['identifier']} {child['title']}" for child in issue.get("children", {}).get("nodes", ())
    ]
    facts += [f"- Attachment: [{a['title']}]({a['url']})" for a in issue.get("attachments", {}).get("nodes", ())]
    parts = [f"# {issue['identifier']} {' '.join(issue['title'].split())}".rstrip(), "\n".join(facts)]
    parts += [issue["description"].strip("\n")] if issue["description"] else []
    comments = sorted(issue["comments"]["nodes"], key=lambda c: c["createdAt"])
    known = {comment["id"] for comment in comments}
    tops = [c for c in comments if (c.get("parent") or {}).get("id") not in known]
    parts += ["## Comments"] if tops else []
    for top in tops:
        parts += _comment(top, "###")
        for answer in comments:
            if (answer.get("parent") or {}).get("id") == top["id"]:
                parts += _comment(answer, "####")
    return "\n\n".join(parts) + "\n"


def _comment(comment: Object, mark: str) -> list[str]:
    who = (comment["user"] or {}).get("name", "somebody")
    return [f"{mark} {who}, {comment['createdAt'][:16].replace('T', ' ')}", comment["body"].strip("\n")]


def project_text(project: Object) -> str:
    parts = [f"# {' '.join(project['name'].split())}", "\n".join(_facts(project, PROJECT_FACTS))]
    parts += [text.strip("\n") for text in (project["description"], project.get("content")) if text]
    return "\n\n".join(parts) + "\n"
