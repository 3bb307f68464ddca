"""The tree of Canvas as a declaration; hooks where Canvas has several lists for one directory, and for folders."""
from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

from mirage.mounts.canvas.client import CanvasClient
from mirage.mounts.canvas.text import announcement_text, page_text
from mirage.vfs.declare import Declared, Directory, Fetch, File, Listing, Paging, Rendering, Scope, Service
from mirage.vfs.declare.store import Kept
from mirage.vfs.declare.template import fill_path
from mirage.vfs.names import safe_name, split_id
from mirage.vfs.service import service_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.vfs.declare.mount import Place
    from mirage.vfs.secrets import Secret

    Item = dict[str, Any]

API = "/api/v1"
LINK = Paging(kind="link", size=100, size_parameter="per_page")
WANTED = "include[]=term&include[]=total_students&include[]=syllabus_body"
ERROR = "errors[0].message || (errors.*[].message | [0]) || message || error"
BIG = 1 << 20                                                # bytes above which a file is read by ranges
LISTS = {"announcements": ("discussion_topics",), "files": ("files", "folders")}


class Canvas(Declared):
    """One user of one Canvas, read-only; changes are made with the CLI `canvas`.

    url      of the Canvas, https://school.instructure.com
    token    an access token
    account  list the courses of this account (an administrator's); 0: those in which the user is enrolled
    rate     requests a second; 0: no limit
    ttl      seconds until things are asked for again
    cache    bytes to keep
    """

    client: CanvasClient

    def __init__(self, url: str, token: Secret | None = None, account: int = 0, rate: float = 20.0, ttl: float = 30.0,
                 cache: int = 64 << 20) -> None:
        service = self._service(url if "://" in url else f"https://{url}", account)
        super().__init__(service, CanvasClient(service, token, rate=rate), ttl=ttl, cache=cache)
        self.site = url
        self.known: dict[tuple[str, str], str] = {}          # (directory, id) -> path of what was looked at

    def _service(self, url: str, account: int) -> Service:
        courses = Listing(path=f"/accounts/{account}/courses?{WANTED}" if account else f"/courses?{WANTED}", paging=LINK)
        base = "/courses/{course.id}"
        return Service(
            name="canvas", summary="Canvas courses. Change them with the `canvas` CLI.", error=ERROR,
            base_url=url.rstrip("/") + API, width=6, tree=[
                Directory(name="courses", children=[Directory(
                    name="{name}", each=courses, unique="always", as_="course", modified="created_at",
                    one=Fetch(path=f"/courses/{{id}}?{WANTED}"), children=[
                        File(name="course", content=lambda scope: scope["course"], ttl=0.0,
                             about="syllabus_body"),
                        Directory(name="assignments", children=[
                            File(name="{name}", each=self._listed("assignments"), unique="always", modified="updated_at",
                                 find=self._finder(f"{base}/assignments/{{id}}", "name"),
                                 about="description, due_at")]),
                        Directory(name="pages", children=[
                            File(name="{title}", each=self._listed("pages"), id="page_id", modified="updated_at",
                                 version="updated_at", content=Fetch(path=f"{base}/pages/{{url}}"), about="a page",
                                 renderings=[Rendering(suffix=".md", format="text", render=page_text)])]),
                        Directory(name="modules", children=[
                            File(name="{name}", each=self._modules, unique="always", about="with `items`",
                                 find=self._finder(f"{base}/modules/{{id}}?include[]=items", "name", self._whole))]),
                        Directory(name="announcements", children=[
                            File(name="{title}", each=self._listed("discussion_topics?only_announcements=true"),
                                 find=self._finder(f"{base}/discussion_topics/{{id}}", "title", _announced), unique="always",
                                 modified="posted_at", about="`.md` beside it", renderings=[
                                     Rendering(suffix=".json"),
                                     Rendering(suffix=".md", format="text", render=announcement_text)])]),
                        Directory(name="files", children=self._folder()),
                        File(name="enrollments", content=Listing(path=f"{base}/enrollments", paging=LINK),
                             about="type, user.name",
                             renderings=[Rendering(suffix=".jsonl", format="jsonl")]),
                        Directory(name="submissions", children=[
                            File(name="{name}", each=self._listed("assignments"), unique="always",
                                 find=self._finder(f"{base}/assignments/{{id}}", "name"), content=Listing(
                                     path=f"{base}/assignments/{{id}}/submissions?include[]=user&include[]=submission_comments",
                                     paging=LINK),
                                 about="user.name, score",
                                 renderings=[Rendering(suffix=".jsonl", format="jsonl")])])])]),
                Directory(name="conversations", children=[
                    File(name="{subject}", each=self._conversations, unique="always", about="messages[].body",
                         find=self._finder("/conversations/{id}?auto_mark_as_read=false", "subject"),
                         content=self._messages,
                         version="join('|', [to_string(message_count), to_string(last_message_at), workflow_state])",
                         modified="last_message_at || last_authored_message_at")]),
                Directory(name="files", children=self._folder())])

    # ---- lists

    def _list(self, scope: Scope, what: str) -> list[Item]:
        """All of a list of the course (or, outside of one, of the user), kept, asked for again by its ETags.

        Empty where the course does not have such a thing: a feature that is switched off is a 404.
        """
        course = scope.values.get("course")
        base = f"/courses/{course['id']}" if course is not None else "/users/self"
        listing = Listing(path=f"{base}/{what}", paging=LINK)
        kind = what.partition("?")[0]

        def make(previous: Kept | None) -> Kept:
            try:
                return self.fetch_listing(listing, {}, previous)
            except OSError as e:
                if e.errno != errno.ENOENT:
                    raise
                return Kept([], 0)
        found: list[Item] = self.store.get((base, what), f"{base}/{kind}", make, 0.9 * self.store.ttl).value
        return found

    def _listed(self, what: str) -> Callable[[Scope], list[Item]]:
        return lambda scope: self._list(scope, what)

    def _modules(self, scope: Scope) -> list[Item]:
        return [self._whole(module, scope) or module for module in self._list(scope, "modules?include[]=items")]

    def _whole(self, module: Item, scope: Scope) -> Item | None:
        """Canvas leaves the items of a long module out."""
        if "items" in module:
            return module
        return {**module, "items": self._list(scope, f"modules/{module['id']}/items")}

    def _conversations(self, scope: Scope) -> list[Item]:
        """Received, sent and archived ones: Canvas lists them apart."""
        found: dict[int, Item] = {}
        for place in ("", "?scope=sent", "?scope=archived"):
            listing = Listing(path=f"/conversations{place}", paging=LINK)
            found.update((item["id"], item) for item in self.fetch_listing(listing, {}).value)
        return list(found.values())

    def _messages(self, scope: Scope) -> Item:
        item: Item = scope.item
        if "messages" in item:
            return item
        found: Item = self.fetch(f"/conversations/{item['id']}", {"auto_mark_as_read": "false"})
        return found

    def _finder(self, path: str, title: str, check: Callable[[Item, Scope], Item | None] | None = None) -> Any:
        """The hook that finds one item by the id in its name; it must be in this course and have this name."""
        def find(scope: Scope, name: str) -> Item | None:
            id = split_id(name)[1]
            if not id.isdecimal():
                return None
            try:
                item: Item | None = self.fetch(fill_path(path, {**scope.values, "id": id}))
            except OSError as e:
                if e.errno in (errno.ENOENT, errno.EINVAL):
                    return None
                raise
            if item is None or f"{safe_name(item.get(title) or '')}__{item['id']}" != name:
                return None
            return check(item, scope) if check is not None else item
        return find

    # ---- files

    def _folder(self) -> list[Any]:
        """What a folder holds: folders, which hold the same, and files."""
        inner = Directory(name="{name}", each=self._folders, as_="folder", modified="updated_at")
        file = File(name="{shown_name}", each=self._files, size="size", modified="modified_at",
                    version="uuid || updated_at", content=lambda scope: self._download(scope.item),
                    renderings=[Rendering(format="bytes")])
        inner.children.extend([inner, file])
        return [inner, file]

    def _inside(self, scope: Scope) -> int | None:
        """The id of the folder; None where there is none yet."""
        folder = scope.values.get("folder")
        if folder is None:
            folder = next((f for f in self._list(scope, "folders") if f["parent_folder_id"] is None), {})
        id: int | None = folder.get("id")
        return id

    def _folders(self, scope: Scope) -> list[Item]:
        inside = self._inside(scope)
        return [f for f in self._list(scope, "folders") if f["parent_folder_id"] == inside and inside is not None]

    def _files(self, scope: Scope) -> list[Item]:
        inside = self._inside(scope)
        taken = {safe_name(folder["name"]).casefold() for folder in self._folders(scope)}
        found = []
        for file in self._list(scope, "files"):
            if file["folder_id"] == inside:
                name = file["display_name"]
                both = safe_name(name).casefold() in taken
                found.append({**file, "shown_name": f"{name}__{file['id']}" if both else name})
        return found

    def _address(self, file: Item) -> str:
        if file.get("locked_for_user") or not file.get("url"):
            raise service_error(errno.EACCES, f"canvas: {file['display_name']} is locked")
        return str(file["url"])

    def _download(self, file: Item) -> bytes:
        data: bytes = self.client.send("GET", self._address(file), raw=True, length=file["size"]).value
        return data

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        """A part of a large file is fetched alone, where the file is not kept already."""
        if length is not None:
            place = self.find(path)
            file = place.scope.item
            if isinstance(file, dict) and "shown_name" in file and file["size"] > BIG \
                    and self.store.peek(*self._key(place.node, place.stem, place.scope, True)) is None:
                return self.client.part(self._address(file), offset, length, file["size"])
        return super().read(path, offset, length)

    # ---- changes of ours

    def _place(self, parent: Place, node: Any, stem: str, item: Any, rendering: Rendering | None = None) -> Place:
        place = super()._place(parent, node, stem, item, rendering)
        if node.each is not None:
            self.known[parent.node.name, str(item.get("page_id") or item["id"])] = place.stem
        return place

    def changed(self, place: str, course: Any = None) -> None:
        """Something of ours changed: `course` itself, a directory of it (`pages`), an item (`pages/12`), or a place
        of the mount (`/courses`). It is asked for again, and nothing else.
        """
        if place.startswith("/"):
            kind, _, id = place[1:].partition("/")
            self.store.drop([self.known.get((kind, id), "") if id else place], below=False)
            return
        path, base = self.known.get(("courses", str(course)), ""), f"/courses/{course}" if course else "/users/self"
        kind, _, id = place.partition("/")
        if place == "course":
            self.store.drop([f"{path}/.", f"{path}/course", "/courses"], below=False)
        elif id:
            self.store.drop([self.known.get((kind, id), "")], below=False)
        elif kind == "submissions":                          # of all assignments, which stay
            self.store.drop([at for (directory, _), at in list(self.known.items())
                             if directory == kind and at.startswith(f"{path}/")], below=False)
        else:
            self.store.drop(f"{base}/{name}" for name in LISTS.get(kind, (kind,)))
            self.store.drop([f"{path}/{kind}", *([f"{path}/submissions"] if kind == "assignments" else [])],
                            below=kind == "files")

    def __repr__(self) -> str:
        return f"Canvas({self.site})"


def _announced(item: Item, scope: Scope) -> Item | None:
    return item if item.get("is_announcement", True) else None
