"""`slack`: post, reply, react and look, with the operations and arguments of the usual Slack tools of agents."""
from __future__ import annotations

import errno
import re
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from mirage.clis.framework import Call, OperationError, VirtualCli, operation
from mirage.mounts.slack.tree import Slack
from mirage.process import blocking

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount

Channel = Annotated[str, Field(description="id of the conversation, or the path of its directory", min_length=1)]
Ts = Annotated[str, Field(description="`ts` of the parent message, 1234567890.123456", min_length=1)]
Limit = Annotated[int, Field(ge=1, le=200)]


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ListChannels(Arguments):
    limit: Limit = 100
    cursor: str | None = Field(None, description="next_cursor of the page before")


class PostMessage(Arguments):
    channel_id: Channel
    text: str = Field(min_length=1)


class ReplyToThread(Arguments):
    channel_id: Channel
    thread_ts: Ts
    text: str = Field(min_length=1)


class AddReaction(Arguments):
    channel_id: Channel
    timestamp: str = Field(description="`ts` of the message", min_length=1)
    reaction: str = Field(description="name of the emoji, without colons", min_length=1)


class GetChannelHistory(Arguments):
    channel_id: Channel
    limit: int = Field(10, ge=1, le=999)


class GetThreadReplies(Arguments):
    channel_id: Channel
    thread_ts: Ts


class GetUsers(Arguments):
    cursor: str | None = Field(None, description="next_cursor of the page before")
    limit: Limit = 100


class GetUserProfile(Arguments):
    user_id: str = Field(min_length=1)


class SlackCli(VirtualCli):
    """The workspace of `mount`; `point` is where it is mounted, for the paths in results (None: nowhere)."""

    description = "Write in Slack, and look at what is newest."

    def __init__(self, mount: Slack, point: str | None = "/slack", name: str = "slack") -> None:
        super().__init__()
        self.name = name
        self.mount = mount
        self.client = mount.client
        self.counters = mount.counters
        self.point = point

    def _do(self, method: str, safe: bool = True, **arguments: Any) -> dict[str, Any]:
        try:
            given = {key: value for key, value in arguments.items() if value is not None}
            answer: dict[str, Any] = blocking.call(partial(self.client.call, method, safe, **given))
        except OSError as e:
            note = str(getattr(e, "note", "") or e.strerror or e)
            code = getattr(e, "status", 0) or errno.errorcode.get(e.errno or 0, "io").lower()
            raise OperationError(note, code) from None
        return answer

    def _changed(self, channel: str, ts: str, posted: str = "") -> str | None:
        """Let the next command see what is new; the path of the chat."""
        try:
            path = self.mount.conversation(channel)
        except OSError:
            self.mount.stale(["/channels", "/dms"])
            return None
        day = self.mount.chats.changed(channel, path, ts, posted)
        return f"{self.point.rstrip('/')}{path}/{day}/chat.jsonl" if self.point is not None else None

    # ---- writing

    @operation("Post a message", PostMessage, effects=("send",))
    def post_message(self, call: Call, a: PostMessage) -> Any:
        return self._post(_id_of(a.channel_id), a.text)

    @operation("Reply in a thread", ReplyToThread, effects=("send",))
    def reply_to_thread(self, call: Call, a: ReplyToThread) -> Any:
        return self._post(_id_of(a.channel_id), a.text, _ts_of(a.thread_ts))

    def _post(self, channel: str, text: str, thread: str | None = None) -> Any:
        try:
            answer = self._do("chat.postMessage", safe=False, channel=channel, text=text, thread_ts=thread)
        except OperationError:
            self._changed(channel, thread or f"{self.client.now():.6f}")
            raise
        path = self._changed(answer["channel"], thread or answer["ts"], answer["ts"])
        return {"channel": answer["channel"], "ts": answer["ts"], **({"thread_ts": thread} if thread else {}),
                **({"path": path} if path else {})}

    @operation("React to a message with an emoji", AddReaction, effects=("update",))
    def add_reaction(self, call: Call, a: AddReaction) -> Any:
        channel, ts = _id_of(a.channel_id), _ts_of(a.timestamp)
        self._do("reactions.add", safe=False, channel=channel, timestamp=ts, name=a.reaction.strip(":"))
        parent = self._parent(channel, ts)
        path = self._changed(channel, parent, ts)
        return {"channel": channel, "ts": ts, "reaction": a.reaction.strip(":"), **({"path": path} if path else {})}

    def _parent(self, channel: str, ts: str) -> str:
        """The message in whose thread a reply is; the message itself where it is none."""
        try:
            messages = self._do("conversations.replies", channel=channel, ts=ts, limit=1)["messages"]
        except OperationError:
            return ts
        return str(messages[0].get("thread_ts", ts)) if messages else ts

    # ---- looking

    @operation("List channels", ListChannels, effects=("read",))
    def list_channels(self, call: Call, a: ListChannels) -> Any:
        answer = self._do("conversations.list", types="public_channel,private_channel", exclude_archived="true",
                          limit=a.limit, cursor=a.cursor)
        return _page("channels", answer)

    @operation("Newest messages of a channel", GetChannelHistory, effects=("read",))
    def get_channel_history(self, call: Call, a: GetChannelHistory) -> Any:
        return _page("messages", self._do("conversations.history", channel=_id_of(a.channel_id), limit=a.limit))

    @operation("All replies in a thread", GetThreadReplies, effects=("read",))
    def get_thread_replies(self, call: Call, a: GetThreadReplies) -> Any:
        channel, ts = _id_of(a.channel_id), _ts_of(a.thread_ts)
        found: list[Any] = []
        cursor: str | None = None
        while True:
            answer = self._do("conversations.replies", channel=channel, ts=ts, limit=999, cursor=cursor)
            found += answer["messages"]
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                return {"messages": found}

    @operation("List people", GetUsers, effects=("read",))
    def get_users(self, call: Call, a: GetUsers) -> Any:
        return _page("members", self._do("users.list", limit=a.limit, cursor=a.cursor))

    @operation("Profile of a person", GetUserProfile, effects=("read",))
    def get_user_profile(self, call: Call, a: GetUserProfile) -> Any:
        return {"profile": self._do("users.profile.get", user=_id_of(a.user_id), include_labels="true")["profile"]}


def _page(key: str, answer: dict[str, Any]) -> dict[str, Any]:
    cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
    return {key: answer[key], **({"next_cursor": cursor} if cursor else {})}


def _id_of(text: str) -> str:
    """The id in a path such as /slack/channels/general__C1/2026-09-30/chat.jsonl; other text is an id itself."""
    for part in reversed(text.split("/")):
        match = re.search(r"__([A-Z0-9]+)(?:\.json)?$", part)
        if match:
            return match.group(1)
    return text


def _ts_of(text: str) -> str:
    """`1234567890123456` is 1234567890.123456."""
    return f"{text[:-6]}.{text[-6:]}" if re.fullmatch(r"\d{16}", text) else text


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> SlackCli:
    """For mirage.yaml. Without options, or with those of a slack mount's account, the mount's connection is used."""
    from mirage.clis._accounts import account
    return SlackCli(*account(name, "slack", Slack, options, mounts, folder), name)
