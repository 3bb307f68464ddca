"""What a declaration is made of. All of it but the hooks (Python functions) can be written as YAML."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from mirage.vfs.declare.template import check_expression, check_template, select

if TYPE_CHECKING:
    from mirage.vfs.declare.mount import Declared


class Scope:
    """Where a hook is called: the mount, a path inside it, the named ancestors' items, and the node's own item."""

    __slots__ = ("item", "mount", "path", "values")

    def __init__(self, mount: Declared, path: str, values: dict[str, Any], item: Any = None) -> None:
        self.mount = mount
        self.path = path
        self.values = values
        self.item = item

    @property
    def context(self) -> Any:
        """What templates see: the fields of the item, and the ancestors by their names (`as`)."""
        return {**self.item, **self.values} if isinstance(self.item, dict) else self.values

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, arbitrary_types_allowed=True)


class Fetch(_Strict):
    """One request. `path` and the values of `query` are templates: `{id}` is a field of the item, `{project.id}` of an
    ancestor; `value` is the jmespath of the resource in the answer.
    `body` is the JSON of a POST; its texts are templates.
    """

    method: Literal["GET", "POST"] = "GET"
    path: str
    query: dict[str, str | int | float | bool] = Field(default_factory=dict)
    body: dict[str, Any] | None = None
    value: str = "@"

    @field_validator("path")
    @classmethod
    def _path(cls, text: str) -> str:
        return check_template(text)

    @field_validator("query")
    @classmethod
    def _query(cls, query: dict[str, Any]) -> dict[str, Any]:
        for text in query.values():
            check_template(str(text))
        return query

    @field_validator("value")
    @classmethod
    def _value(cls, text: str) -> str:
        return check_expression(text)


class Paging(_Strict):
    """How the next page is asked for.

    cursor  `next` is the jmespath of the cursor in the answer; empty or null: the last page
    page    numbers from `first`; a page with fewer than `size` items is the last, or where `next` is false
    offset  as `page`, but the number of items so far
    link    the header `Link: <...>; rel="next"`

    size    items of a full page (at most what the service gives); sent as `size_parameter` where that is named
    The parameters are in the query, or in the body where the listing has one.
    most    pages; a listing that has more is refused with EFBIG rather than cut off
    """

    kind: Literal["cursor", "page", "offset", "link"]
    parameter: str = ""
    next: str = ""
    first: int = 1
    size: int = Field(default=100, ge=0)
    size_parameter: str = ""
    most: int = Field(default=1000, ge=1)

    @model_validator(mode="after")
    def _complete(self) -> Paging:
        if self.kind != "link" and not self.parameter:
            raise ValueError(f"paging of kind {self.kind} needs `parameter`")
        if self.kind == "cursor" and not self.next:
            raise ValueError("paging of kind cursor needs `next`")
        if self.next:
            check_expression(self.next)
        return self


class Listing(Fetch):
    """A request, or several pages of it, whose answer has a list at the jmespath `items`."""

    items: str = "@"
    paging: Paging | None = None

    @field_validator("items")
    @classmethod
    def _items(cls, text: str) -> str:
        return check_expression(text)


class Rendering(_Strict):
    """One file of a resource: the node's name with `suffix`.

    json, jsonl (of a list), text (by `template` or `render`), bytes (the answer as it came)
    listed         False: there by its name, but not in listings
    example, note  for VFS.md
    """

    suffix: str = ""
    format: Literal["json", "jsonl", "text", "bytes"] = "json"
    template: str = ""
    render: Callable[[Any, Scope], str | bytes] | None = None
    listed: bool = True
    example: str = ""
    note: str = ""
    language: str = "json"

    @model_validator(mode="after")
    def _complete(self) -> Rendering:
        check_template(self.template)
        if self.format == "text" and self.render is None and not self.template:
            raise ValueError("a rendering of format text needs `template`")
        return self


class _Node(_Strict):
    """Fixed (`name` is its name), or one of each item of a listing (`name` is a template).

    id        jmespath of the item's id;  unique: `__<id>` in every name, or only on those that collide
    as        the name by which the nodes below see the item
    one       one item by its id: finds a name with an id without listing, and is a file's content
    within    {jmespath of what `one` gives: jmespath over the ancestors}: equal for an item of this directory; without
              it names below an ancestor are found by listing
    find      hook: the item of a name, or None; it may know names that the listing does not have
    modified  jmespath of a time (ISO 8601 or seconds);  version: of what changes with the content
    ttl       seconds until listing and content are asked for again; default: the mount's. With 0 the hooks `each` and
              `find` are called every time: they keep what they give, and wait by themselves
    about     for VFS.md
    """

    name: str
    each: Listing | Callable[[Scope], Any] | None = None
    id: str = "id"
    unique: Literal["always", "collision"] = "collision"
    as_: str = Field(default="", validation_alias=AliasChoices("as", "as_"))
    one: Fetch | None = None
    within: dict[str, str] = Field(default_factory=dict)
    find: Callable[[Scope, str], Any] | None = None
    modified: str = ""
    version: str = ""
    ttl: float | None = None
    about: str = ""

    @model_validator(mode="after")
    def _expressions(self) -> _Node:
        check_template(self.name)
        for text in (self.id, self.modified, self.version, *self.within, *self.within.values()):
            if text:
                check_expression(text)
        return self


class Directory(_Node):
    name: str = Field(validation_alias=AliasChoices("directory", "name"))
    children: list[Node] = Field(default_factory=list)


class File(_Node):
    """`content` is where its content comes from, where that is neither `one` nor the item of the listing.

    size  jmespath of the content's length in bytes, for content that is delivered as it is; checked when it is read
    pages hook instead of `content`: gives the content in pages (lists), asked for up to where the file is read;
          each is rendered by itself, and `render` gets None first for what stands before them
    """

    name: str = Field(validation_alias=AliasChoices("file", "name"))
    content: Fetch | Listing | Callable[[Scope], Any] | None = None
    pages: Callable[[Scope], Iterable[list[Any]]] | None = None
    size: str = ""
    renderings: list[Rendering] = Field(default_factory=lambda: [Rendering(suffix=".json")])

    @model_validator(mode="after")
    def _has_content(self) -> File:
        if self.each is None and self.content is None and self.one is None and self.pages is None:
            raise ValueError(f"the file {self.name!r} has no content")
        return self


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return "directory" if "directory" in value or "children" in value else "file"
    return "directory" if isinstance(value, Directory) else "file"


Node = Annotated[Annotated[Directory, Tag("directory")] | Annotated[File, Tag("file")], Discriminator(_kind)]
Directory.model_rebuild()


class Auth(_Strict):
    """The header that carries the token, and the word before it."""

    header: str = "Authorization"
    scheme: str = "Bearer"


class Service(_Strict):
    """A whole service.

    rate   requests a second, 0: no limit;  width: requests at a time
    error  jmespath of the message in an answer that tells of an error
    search hook: (mount, path, query) -> Candidates or None
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    summary: str
    base_url: str = ""
    auth: Auth = Auth()
    headers: dict[str, str] = Field(default_factory=dict)
    rate: float = Field(default=0.0, ge=0)
    width: int = Field(default=8, ge=1, le=32)
    ttl: float = Field(default=30.0, ge=0)
    error: str = "error.message || message || error"
    tree: list[Node]
    search: Callable[[Any, str, Any], Any] | None = None

    @field_validator("error")
    @classmethod
    def _error(cls, text: str) -> str:
        return check_expression(text)

    def message(self, answer: Any) -> str:
        """What an answer says about an error, or ""."""
        found = select(self.error, answer)
        return found if isinstance(found, str) else ""
