"""Issues, pull requests and releases as Markdown."""
from __future__ import annotations

from typing import Any

Item = dict[str, Any]


def issue_text(issue: Item, scope: Any = None) -> str:
    return "".join(_head(issue, _state(issue)) + [_said(c, "commented") for c in issue["comment_list"]])


def pull_text(pull: Item, scope: Any = None) -> str:
    state = "merged" if pull.get("merged_at") else "draft" if pull.get("draft") else _state(pull)
    lines = _head(pull, f"{state}, {pull['head']['label']} -> {pull['base']['label']}, "
                        f"{pull.get('changed_files', 0)} files +{pull.get('additions', 0)} -{pull.get('deletions', 0)}")
    notes = [(c["created_at"], _said(c, "commented")) for c in pull["comment_list"]]
    by_review: dict[Any, list[Item]] = {}
    for comment in pull["review_comment_list"]:
        by_review.setdefault(comment.get("pull_request_review_id"), []).append(comment)
    for review in pull["review_list"]:
        text = _said(review, review["state"].lower().replace("_", " "), "submitted_at")
        for comment in by_review.pop(review["id"], ()):
            text += _place(comment)
        notes.append((review.get("submitted_at") or "", text))
    for rest in by_review.values():
        notes += [(c["created_at"], _said(c, "commented") + _place(c)) for c in rest]
    return "".join(lines + [text for _, text in sorted(notes, key=lambda note: note[0])])


def release_text(release: Item, scope: Any = None) -> str:
    kind = ", draft" if release.get("draft") else ", prerelease" if release.get("prerelease") else ""
    when = (release.get("published_at") or release.get("created_at") or "")[:10]
    files = "".join(f"- {a['name']} ({a.get('size', 0)} bytes)\n" for a in release.get("assets") or ())
    title = _line(release.get("name") or release["tag_name"])
    return (f"# {title}\n\n{release['tag_name']}{kind}, {when}, by {_login(release.get('author'))}\n"
            + _block(release.get("body")) + (f"\n{files}" if files else ""))


def _head(item: Item, state: str) -> list[str]:
    labels = ", ".join(label["name"] for label in item.get("labels") or ())
    people = ", ".join(_login(user) for user in item.get("assignees") or ())
    facts = [state, f"by {_login(item.get('user'))}", item["created_at"][:10]]
    facts += [f"labels: {labels}"] if labels else []
    facts += [f"assigned to {people}"] if people else []
    return [f"# {_line(item['title'])} (#{item['number']})\n\n{'; '.join(facts)}\n", _block(item.get("body"))]


def _state(item: Item) -> str:
    reason = item.get("state_reason")
    return f"closed ({reason})" if item["state"] == "closed" and reason else str(item["state"])


def _said(item: Item, what: str, when: str = "created_at") -> str:
    return f"\n---\n\n**{_login(item.get('user'))}** {what}, {(item.get(when) or '')[:16].replace('T', ' ')}\n" \
        + _block(item.get("body"))


def _place(comment: Item) -> str:
    line = comment.get("line") or comment.get("position") or ""
    return f"\n`{comment.get('path')}:{line}`:\n" + _block(comment.get("body"))


def _block(text: str | None) -> str:
    text = (text or "").replace("\r\n", "\n").strip("\n")
    return f"\n{text}\n" if text else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _login(user: Item | None) -> str:
    return str(user["login"]) if user else "ghost"
