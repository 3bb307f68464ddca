"""git log and git show: which commits, and how they are written."""
from __future__ import annotations

import datetime
import heapq
import re

from mirage.commands.git import difference
from mirage.commands.git.store import Commit, Repository, fatal, unknown_revision
from mirage.text.strftime import DAYS, MONTHS, strftime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FIELD = re.compile(r"%(?:C\([^)]*\)|C(?:red|green|blue|reset)|x[0-9a-fA-F]{2}|[ac][nNeEdDrtiIslLh]|"
                    r"[a-zA-Z%]|<\([^)]*\)|>\([^)]*\))")


def moment(seconds: int, zone: str) -> datetime.datetime:
    minutes = (int(zone[1:3]) * 60 + int(zone[3:5])) * (-1 if zone[0] == "-" else 1)
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone(datetime.timedelta(minutes=minutes)))
    except (ValueError, OverflowError, OSError):
        return datetime.datetime.fromtimestamp(0, datetime.UTC)


def date_text(seconds: int, zone: str, form: str, now: float) -> str:
    when = moment(seconds, zone)
    if form.startswith("format:"):
        return strftime(form[7:], when)
    if form == "short":
        return f"{when:%Y-%m-%d}"
    if form in ("iso", "iso8601"):
        return f"{when:%Y-%m-%d %H:%M:%S} {zone}"
    if form in ("iso-strict", "iso8601-strict"):
        offset = "Z" if zone == "+0000" else f"{zone[:3]}:{zone[3:]}"
        return f"{when:%Y-%m-%dT%H:%M:%S}{offset}"
    if form in ("rfc", "rfc2822"):
        return f"{DAYS[when.weekday()][:3]}, {when.day} {MONTHS[when.month - 1][:3]} {when:%Y %H:%M:%S} {zone}"
    if form == "unix":
        return str(seconds)
    if form == "raw":
        return f"{seconds} {zone}"
    if form == "relative":
        return relative(int(now) - seconds)
    return f"{DAYS[when.weekday()][:3]} {MONTHS[when.month - 1][:3]} {when.day} {when:%H:%M:%S %Y} {zone}"


def relative(seconds: int) -> str:
    def count(n: int, unit: str) -> str:
        return f"{n} {unit}{'' if n == 1 else 's'}"
    if seconds < 0:
        return "in the future"
    if seconds < 90:
        return f"{count(seconds, 'second')} ago"
    minutes = (seconds + 30) // 60
    if minutes < 90:
        return f"{count(minutes, 'minute')} ago"
    hours = (minutes + 30) // 60
    if hours < 36:
        return f"{count(hours, 'hour')} ago"
    days = (hours + 12) // 24
    if days < 14:
        return f"{count(days, 'day')} ago"
    if days < 70:
        return f"{count((days + 3) // 7, 'week')} ago"
    if days < 365:
        return f"{count((days + 15) // 30, 'month')} ago"
    if days < 1825:
        months = (days * 12 * 2 + 365) // (365 * 2)
        years, months = divmod(months, 12)
        return f"{count(years, 'year')}{', ' + count(months, 'month') if months else ''} ago"
    return f"{count((days + 183) // 365, 'year')} ago"


class Log:
    """The options of log and show."""

    def __init__(self, repo: Repository, now: float) -> None:
        self.repo = repo
        self.now = now
        self.form = difference.Form()
        self.limit: int | None = None
        self.skip = 0
        self.format = "medium"
        self.date = "default"
        self.decorate = False
        self.abbreviate = False
        self.reverse = self.graph = self.first_parent = self.follow = False
        self.merges: bool | None = None
        self.author = self.grep = self.pickaxe = ""
        self.ignore_case = False
        self.since: float | None = None
        self.until: float | None = None
        self.all = False
        self.separator = False
        self._names: dict[str, list[str]] | None = None

    def take(self, word: str, value: Callable[[], str]) -> bool:
        """One option; False if it is none of ours."""
        name, equals, given = word.partition("=")
        if self.form.take(word):
            return True
        if word == "--oneline":
            self.format, self.abbreviate = "oneline", True
        elif name in ("--format", "--pretty"):
            given = given if equals else "medium"
            self.separator = given.startswith("format:")
            self.format = given
        elif re.fullmatch(r"-[0-9]+", word):
            self.limit = int(word[1:])
        elif name in ("-n", "--max-count") or word.startswith("-n") and word[2:].isdecimal():
            text = given if equals else word[2:] if len(word) > 2 and not word.startswith("--") else value()
            if not text.isdecimal():
                raise fatal(self.repo.proc, f"'{text}': not an integer")
            self.limit = int(text)
        elif name == "--skip":
            self.skip = int(given or value() or "0")
        elif name == "--date":
            self.date = given or value()
        elif name == "--author":
            self.author = given if equals else value()
        elif name == "--grep":
            self.grep = given if equals else value()
        elif name in ("--since", "--after", "--until", "--before"):
            when = self._when(given if equals else value())
            if name in ("--since", "--after"):
                self.since = when
            else:
                self.until = when
        elif word.startswith(("-S", "-G")):
            self.pickaxe = word[2:] or value()
        elif word in ("-i", "--regexp-ignore-case"):
            self.ignore_case = True
        elif name in ("--decorate", "--no-decorate"):
            self.decorate = name == "--decorate" and given != "no"
        elif word == "--abbrev-commit":
            self.abbreviate = True
        elif word in ("--reverse", "--graph", "--first-parent", "--follow", "--all"):
            setattr(self, word[2:].replace("-", "_"), True)
        elif word in ("--branches", "--tags", "--remotes"):
            self.all = True
        elif word in ("--merges", "--no-merges"):
            self.merges = word == "--merges"
        elif word not in ("--no-pager", "--no-abbrev-commit", "--topo-order", "--date-order", "--no-show-signature",
                          "--extended-regexp", "-E", "--full-history", "--no-notes", "-m", "-c", "--cc", "--root"):
            return False
        return True

    def _when(self, text: str) -> float:
        if found := re.fullmatch(r"([0-9]+)[. ]?(second|minute|hour|day|week|month|year)s?(?:[. ]ago)?", text):
            unit = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 2629746,
                    "year": 31556952}[found[2]]
            return self.now - int(found[1][:9]) * unit
        try:
            when = datetime.datetime.fromisoformat(text)
        except ValueError:
            raise fatal(self.repo.proc, f"invalid date: {text}") from None
        return (when if when.tzinfo else when.replace(tzinfo=datetime.UTC)).timestamp()

    # ---- which commits

    def commits(self, revisions: list[str], paths: list[str]) -> Iterator[Commit]:
        repo = self.repo
        wanted: list[str] = []
        hidden: list[str] = []
        for text in revisions:
            if "..." in text:
                left, _, right = text.partition("...")
                wanted += [self.sha(left or "HEAD"), self.sha(right or "HEAD")]
                hidden += self._common(wanted[-2], wanted[-1])
            elif ".." in text:
                left, _, right = text.partition("..")
                hidden.append(self.sha(left or "HEAD"))
                wanted.append(self.sha(right or "HEAD"))
            elif text.startswith("^"):
                hidden.append(self.sha(text[1:]))
            else:
                wanted.append(self.sha(text))
        if self.all:
            wanted += [sha for name, sha in repo.refs().items() if repo.kind(sha) in ("commit", "tag")]
        if not wanted:
            branch, sha = repo.head()
            if not sha:
                raise fatal(repo.proc, f"your current branch '{branch}' does not have any commits yet")
            wanted = [sha]
        excluded = self._ancestors(hidden) if hidden else set()
        found = self._walk(wanted, excluded, paths)
        if self.reverse:
            found = iter(list(self._limited(found))[::-1])
            yield from found
        else:
            yield from self._limited(found)

    def _limited(self, found: Iterator[Commit]) -> Iterator[Commit]:
        count = 0
        for commit in found:
            count += 1
            if count <= self.skip:
                continue
            if self.limit is not None and count - self.skip > self.limit:
                return
            yield commit

    def sha(self, text: str) -> str:
        try:
            return self.repo.commit(self.repo.resolve(text)).sha
        except KeyError:
            raise unknown_revision(self.repo.proc, text) from None

    def _ancestors(self, start: list[str]) -> set[str]:
        seen: set[str] = set()
        stack = list(start)
        while stack:
            sha = stack.pop()
            if sha not in seen:
                seen.add(sha)
                stack += self.repo.commit(sha).parents
        return seen

    def _common(self, a: str, b: str) -> list[str]:
        return list(self._ancestors([a]) & self._ancestors([b]))

    def _walk(self, start: list[str], excluded: set[str], paths: list[str]) -> Iterator[Commit]:
        heap: list[tuple[int, int, str]] = []
        seen = set(excluded)
        order = 0
        for sha in start:
            if sha not in seen:
                seen.add(sha)
                heapq.heappush(heap, (-self.repo.commit(sha).person("committer")[2], order, sha))
                order += 1
        while heap:
            _, _, sha = heapq.heappop(heap)
            commit = self.repo.commit(sha)
            for parent in commit.parents[:1] if self.first_parent else commit.parents:
                if parent not in seen:
                    seen.add(parent)
                    try:
                        when = self.repo.commit(parent).person("committer")[2]
                    except KeyError:                         # a shallow clone ends here
                        continue
                    heapq.heappush(heap, (-when, order, parent))
                    order += 1
            if self._chosen(commit, paths):
                yield commit

    def _chosen(self, commit: Commit, paths: list[str]) -> bool:
        if self.merges is not None and (len(commit.parents) > 1) != self.merges:
            return False
        name, mail, _, _ = commit.person("author")
        when = commit.person("committer")[2]
        if self.since is not None and when < self.since or self.until is not None and when > self.until:
            return False
        if self.author and not self._found(self.author, f"{name} <{mail}>"):
            return False
        if self.grep and not self._found(self.grep, commit.message):
            return False
        if paths:
            if len(commit.parents) > 1 or not self.changes(commit, paths):
                return False
        if self.pickaxe:
            word = self.pickaxe.encode("utf-8", "surrogateescape")
            return any(c.old().count(word) != c.new().count(word) for c in self.changes(commit, paths))
        return True

    def _found(self, text: str, where: str) -> bool:
        from mirage.text.regex import RegexError, compile_bre
        try:
            regex = compile_bre(text, self.ignore_case)
        except RegexError as e:
            raise fatal(self.repo.proc, f"command line, '{text}': {e}") from None
        return any(regex.search(line.encode("utf-8", "surrogateescape")) for line in where.split("\n"))

    def changes(self, commit: Commit, paths: list[str]) -> list[difference.Change]:
        repo = self.repo
        try:
            old = repo.files(repo.commit(commit.parents[0]).tree) if commit.parents else {}
        except KeyError:
            old = {}
        return difference.trees(repo, old, repo.files(commit.tree), paths)

    # ---- how they are written

    def names(self, sha: str) -> list[str]:
        """What decorates a commit: HEAD -> branch, tags, branches."""
        if self._names is None:
            self._names = {}
            branch, head = self.repo.head()
            refs = self.repo.refs()
            order = sorted(refs, key=lambda n: (n != f"refs/heads/{branch}", not n.startswith("refs/tags/"), n))
            if head and not branch:
                self._names[head] = ["HEAD"]
            for name in order:
                target = refs[name]
                try:
                    target = self.repo.commit(target).sha
                except KeyError:
                    continue
                short = re.sub(r"\Arefs/(?:heads|remotes)/", "", name)
                short = f"tag: {name[10:]}" if name.startswith("refs/tags/") else short
                if name == f"refs/heads/{branch}":
                    short = f"HEAD -> {short}"
                self._names.setdefault(target, []).append(short)
        return self._names.get(sha, [])

    def text(self, commit: Commit) -> str:
        """The header of one commit in the chosen format."""
        sha = self.repo.short(commit.sha) if self.abbreviate else commit.sha
        names = f" ({', '.join(self.names(commit.sha))})" if self.decorate and self.names(commit.sha) else ""
        if self.format == "oneline":
            return f"{sha}{names} {commit.subject}\n"
        if self.format in ("medium", "short", "full", "fuller", "raw"):
            return self._long(commit, sha, names)
        return self.custom(commit, self.format.removeprefix("tformat:").removeprefix("format:")) + "\n"

    def _long(self, commit: Commit, sha: str, names: str) -> str:
        lines = [f"commit {sha}{names}"]
        name, mail, seconds, zone = commit.person("author")
        c_name, c_mail, c_seconds, c_zone = commit.person("committer")
        if self.format == "raw":
            lines += [f"tree {commit.tree}", *(f"parent {p}" for p in commit.parents),
                      f"author {commit.fields['author'][0]}", f"committer {commit.fields['committer'][0]}"]
        else:
            if len(commit.parents) > 1:
                lines.append("Merge: " + " ".join(self.repo.short(p) for p in commit.parents))
            wide = "    " if self.format == "fuller" else ""
            lines.append(f"Author: {wide}{name} <{mail}>")
            shown = date_text(seconds, zone, self.date, self.now)
            if self.format == "fuller":
                lines += [f"AuthorDate: {shown}", f"Commit:     {c_name} <{c_mail}>",
                          f"CommitDate: {date_text(c_seconds, c_zone, self.date, self.now)}"]
            elif self.format == "full":
                lines.append(f"Commit: {c_name} <{c_mail}>")
            elif self.format == "medium":
                lines.append(f"Date:   {shown}")
        message = [commit.subject] if self.format == "short" else commit.message.strip("\n").split("\n")
        lines += ["", *(f"    {line}" for line in message)]
        return "\n".join(lines) + "\n"

    def custom(self, commit: Commit, text: str) -> str:
        def field(found: re.Match[str]) -> str:
            code = found[0][1:]
            if code[0] in "ac" and len(code) == 2:
                name, mail, seconds, zone = commit.person("author" if code[0] == "a" else "committer")
                form = {"d": self.date, "D": "rfc", "r": "relative", "t": "unix", "i": "iso", "I": "iso-strict",
                        "s": "short"}
                if code[1] in "nN":
                    return name
                if code[1] in "eE":
                    return mail
                if code[1] in "lL":
                    return mail.partition("@")[0]
                return date_text(seconds, zone, form.get(code[1], "default"), self.now)
            if code[0] == "x":
                return chr(int(code[1:], 16))
            if code[0] in "C<>":
                return ""
            names = ", ".join(self.names(commit.sha))
            values = {"H": commit.sha, "h": self.repo.short(commit.sha), "T": commit.tree, "t": commit.tree[:7],
                      "P": " ".join(commit.parents), "p": " ".join(p[:7] for p in commit.parents), "s": commit.subject,
                      "b": commit.body + ("\n" if commit.body else ""), "B": commit.message, "n": "\n", "%": "%",
                      "d": f" ({names})" if names else "", "D": names,
                      "f": re.sub(r"[^A-Za-z0-9_.]+", "-", commit.subject).strip("-"),
                      "e": "", "N": "", "S": "", "G": ""}
            return values.get(code, found[0])
        return _FIELD.sub(field, text)

    def write(self, commit: Commit, first: bool, default: str, paths: list[str]) -> None:
        """One commit with its changes."""
        out = self.repo.proc.stdout.write
        short = self.format == "oneline" or "%" in self.format or self.format.startswith(("format:", "tformat:"))
        kinds = [k for k in self.form.kinds if k != "none"] or ([default] if default else [])
        if not first and not short:
            out(b"\n")
        text = self.text(commit)
        if self.graph:
            text = "".join(f"{'* ' if n == 0 else '  ' if not commit.parents else '| '}{line}\n" if line or n == 0
                           else "| \n"
                           for n, line in enumerate(text.splitlines()))
        if not first and self.separator and kinds:
            out(b"\n")
        out(b"" if self.format in ("", "format:", "tformat:") else text.encode("utf-8", "surrogateescape"))
        if "none" in self.form.kinds or not kinds or len(commit.parents) > 1:
            return
        changes = self.changes(commit, paths)
        if changes:
            if self.format != "oneline" and self.format not in ("", "format:", "tformat:"):
                out(b"\n")
            self.form.show(self.repo, changes, out, default)
