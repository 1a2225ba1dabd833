"""`client.conversations`: conversations of any length (Agent Memory Protocol §3)."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any, Unpack

from agent_memory._async.pages import AsyncPages, to_pages
from agent_memory._async.recall import RecallFields, ask
from agent_memory._async.resource import AsyncResource
from agent_memory.exceptions import (
    ConversationNotOwned,
    MemoryAccessError,
    MemoryConflictError,
    MemoryNotFoundError,
)
from agent_memory.hints import SAY, explain_call
from agent_memory.message_pieces import Uses, split_messages, to_messages
from agent_memory.model import (
    AppendedMessages,
    ChangedMessage,
    Conversation,
    ConversationFields,
    ConversationHead,
    ConversationMessage,
    Recall,
)
from agent_memory.page import Page, Paging
from agent_memory.requests import (
    UNSET,
    Unset,
    assert_known,
    drop_none,
    drop_unset,
    expect_own,
    join_tags,
    quote_segment,
    render_json,
    render_time,
    to_list,
)
from agent_memory.responses import get_member, parse, parse_items, parse_position

_CONVERSATIONS = "/api/v1/conversations"
_AT_ONCE = 50  # messages of one append
_MOST_BESIDE = 1_000_000  # bytes of the other fields of a body
_MOST_LAST = 1000
_READS = 5
_UNCOUNTED = {"total": "none"}

Document = dict[str, Any]
_Messages = list[ConversationMessage]


class AsyncConversations(AsyncResource):
    """The conversations that the caller takes part in, or may read."""

    async def put(
        self,
        session_id: str,
        user_id: str,
        messages: Iterable[Mapping[str, Any]] = (),
        *,
        revision: int | None = None,
        **fields: Unpack[ConversationFields],
    ) -> ConversationHead:
        """Create or replace a conversation of any length, in one step.

            client.conversations.put("chat-42", "ada", [{"role": "user", "content": "Hello"}])

        A conversation that exceeds one request is uploaded in parts, and appears by one write.

        Args:
            messages: `role` and `content` of each, optionally `timestamp` and `metadata`.
            revision: replace only this revision; 0: only if there is none.
            fields: `metadata`, `agent_participants`, `shared_with`, `tags`, `ttl`, `expires_at`,
                `sensitivity`.

        Raises:
            MemoryConflictError: it has another revision.
            MemoryAccessError: it belongs to another principal.
            TypeError: raised when a field is unknown.
        """
        assert_known(fields, ConversationFields)
        said = to_messages(messages)
        body: Document = {"user_id": user_id, **_to_fields(fields)}
        pieces = split_messages(said)
        if len(pieces) == 1 and len(render_json(body)) <= _MOST_BESIDE:
            body["messages"] = said
        else:
            body["upload_id"] = await self._upload(session_id, pieces, body)
        answer = await self._call("PUT", _path(session_id), json=body, version=revision)
        return parse(ConversationHead.from_document, answer)

    async def _upload(
        self, session_id: str, pieces: Sequence[Sequence[Document]], fields: Mapping[str, Any]
    ) -> str:
        """Upload messages, which are not shown yet; return the id of the upload."""
        path = f"{_path(session_id)}/uploads"
        begun = {name: fields[name] for name in ("sensitivity", "version") if name in fields}
        upload = await self._call("POST", path, json=begun)
        upload_id = parse(str, get_member(upload, "upload_id"))
        offset = 0
        for piece in filter(None, pieces):
            body = {"offset": offset, "messages": piece}
            await self._call("POST", f"{path}/{upload_id}/messages", json=body)
            offset += len(piece)
        return upload_id

    async def update(
        self,
        session_id: str,
        *,
        revision: int | None = None,
        metadata: Mapping[str, Any] | Unset = UNSET,
        tags: Iterable[str] | Unset = UNSET,
        ttl: str | float | timedelta | Unset | None = UNSET,
        expires_at: str | datetime | Unset | None = UNSET,
        agent_participants: Iterable[str] | Unset = UNSET,
        shared_with: Iterable[str] | Unset = UNSET,
    ) -> ConversationHead:
        """Change fields of a conversation; its messages stay unchanged.

            client.conversations.update("chat-42", tags=["solved"])

        Args:
            revision: change only this one.
            ttl: seconds, a `timedelta` or an ISO 8601 duration, from now on; None: no expiry.
            expires_at: the time of its expiry, which takes precedence over `ttl`.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
            MemoryConflictError: it has another revision.
        """
        body = drop_unset(
            metadata=metadata,
            tags=_listed(tags),
            ttl=render_time(ttl),
            expires_at=render_time(expires_at),
            agent_participants=_listed(agent_participants),
            shared_with=_listed(shared_with),
        )
        answer = await self._call("PATCH", _path(session_id), json=body, version=revision)
        return parse(ConversationHead.from_document, answer)

    async def update_message(
        self,
        session_id: str,
        index: int,
        *,
        revision: int | None = None,
        content: Any = UNSET,
        role: str | Unset = UNSET,
        metadata: Mapping[str, Any] | Unset = UNSET,
    ) -> ChangedMessage:
        """Change fields of one message, for example to redact it; return the message.

            client.conversations.update_message("chat-42", 3, content="(removed)")

        Args:
            index: of the message.
            revision: change only this one of the conversation.

        Raises:
            MemoryNotFoundError: raised when there is no such message.
            MemoryConflictError: the conversation is at another revision.
        """
        body = drop_unset(content=content, role=role, metadata=metadata)
        path = f"{_path(session_id)}/messages/{index}"
        answer = await self._call("PATCH", path, json=body, version=revision)
        return parse(ChangedMessage.from_document, answer)

    async def remove_messages(
        self, session_id: str, first: int, end: int | None = None, *, revision: int | None = None
    ) -> int:
        """Remove the messages from the index `first` to before `end`, in one step.

            client.conversations.remove_messages("chat-42", 0, 10)

        The others keep their indexes.

        Args:
            end: None: to the end of the conversation.
            revision: change only this one.

        Returns:
            The number of removed messages; 0 also if an earlier attempt of this call removed them.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
            MemoryConflictError: it has another revision.
        """
        asked = drop_none(**{"from": first, "to": end})
        path = f"{_path(session_id)}/messages"
        answer = await self._call("DELETE", path, params=asked, version=revision)
        return parse(int, get_member(answer, "removed"))

    async def get_head(self, session_id: str) -> ConversationHead | None:
        """Return a conversation without its messages; None if there is none.

        client.conversations.get_head("chat-42").message_count
        """
        try:
            found = await self._call("GET", _path(session_id), params={"limit": 0})
        except MemoryNotFoundError:
            return None
        return parse(ConversationHead.from_document, found)

    def list_messages(
        self, session_id: str, *, first: int = 0, archived: bool = False, **paging: Unpack[Paging]
    ) -> AsyncPages[ConversationMessage]:
        """Return the messages, oldest first.

            for message in client.conversations.list_messages("chat-42"):
                print(message.role, message.content)

        Args:
            first: the index of the first message.
            archived: read the archived conversation, whose retention has ended.
            paging: `limit`, `page_size`, `after`.

        Raises:
            MemoryNotFoundError: raised by the first page when there is no such conversation.
        """
        path = f"{_path(session_id)}/archive" if archived else _path(session_id)

        async def fetch(size: int, position: str | None) -> Page[ConversationMessage]:
            start = {"offset": first} if position is None else {"after": position}
            found = await self._call("GET", path, params={**start, "limit": size, **_UNCOUNTED})
            return Page(_read_messages(found), parse_position(found))

        return to_pages(fetch, paging)

    async def get(self, session_id: str) -> Conversation:
        """Return a conversation with all its `messages`, as it was at one moment.

            client.conversations.get("chat-42").messages[-1].content

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
            MemoryConflictError: it changes faster than it can be read.
        """
        for _ in range(_READS):
            found = await self._read_at_once(_path(session_id), {})
            if found is not None:
                return parse(Conversation.from_document, found)
        raise MemoryConflictError("the conversation changes faster than it can be read; try again")

    async def get_archived(
        self, session_id: str, *, expires_at: datetime | str | None = None
    ) -> Conversation:
        """Return an archived conversation, with all its `messages`.

            client.conversations.get_archived("chat-42").messages[-1].content

        Args:
            expires_at: the time when its retention ended; by default, the latest one.

        Raises:
            MemoryNotFoundError: raised when there is none in the archive.
            MemoryConflictError: a later conversation was archived during the read.
        """
        asked = {} if expires_at is None else {"expires_at": render_time(expires_at)}
        found = await self._read_at_once(f"{_path(session_id)}/archive", asked)
        if found is None:
            raise MemoryConflictError(
                "a later conversation of this session was archived; read it again"
            )
        return parse(Conversation.from_document, found)

    async def _read_at_once(self, path: str, asked: Document) -> Document | None:
        """Return a conversation with all its messages; None if it changed during the read."""
        page = found = await self._call("GET", path, params=asked | _UNCOUNTED)
        said, revision = _said(found), get_member(found, "revision")
        while (after := parse_position(page)) is not None:
            page = await self._call("GET", path, params=asked | {"after": after})
            if get_member(page, "revision") != revision:
                return None
            said += _said(page)
        if "metadata" not in found:  # so large that no message fits
            found |= await self._call("GET", path, params=asked | {"limit": 0})
        is_same = get_member(found, "revision") == revision
        return found | {"messages": said} if is_same else None

    async def get_last(self, session_id: str, count: int) -> _Messages:
        """Return the newest `count` messages of at most one page, oldest first.

        client.conversations.get_last("chat-42", 20)
        """
        page = await self._call("GET", _path(session_id), params={"last": min(count, _MOST_LAST)})
        found = _read_messages(page)
        while (after := parse_position(page)) is not None:  # cut, for its size
            page = await self._call("GET", _path(session_id), params={"after": after})
            found += _read_messages(page)
        return found

    async def append(
        self,
        session_id: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        revision: int | None = None,
        expect_created_by: Iterable[str] | None = None,
        expect_user_id: str | None = None,
        expect_trusted: bool = False,
    ) -> AppendedMessages:
        """Add messages at the end, each exactly once.

            client.conversations.append("chat-42", [{"role": "assistant", "content": "Hi"}])

        Up to 50 are stored together; more come in groups of 50.

        Args:
            revision: append only to this one.
            expect_created_by: the principals, one of which must have created the conversation.
            expect_user_id: the user whose conversation it must be.
            expect_trusted: its creator must be the caller, of the caller's `agent_type`, a
                coordinator, a user, or an administrator.

        Returns:
            The conversation's revision and its number of messages.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
            MemoryConflictError: it has another revision.
            ConversationNotOwned: the creator or the user is not the expected one.
        """
        creators = None if expect_created_by is None else [*expect_created_by]
        expected = drop_none(
            expect_created_by=creators,
            expect_user_id=expect_user_id,
            expect_trusted=expect_trusted or None,
        )
        appended: AppendedMessages | None = None
        path = f"{_path(session_id)}/messages"
        for group in filter(None, split_messages(to_messages(messages), _AT_ONCE)):
            try:
                answer = await self._call(
                    "POST", path, json={"messages": group} | expected, version=revision
                )
            except MemoryAccessError as refusal:
                me = await self._client.principals.cached_me()
                if expected and "memory.write" in me.permissions:
                    raise ConversationNotOwned(str(refusal), **vars(refusal)) from refusal
                raise
            appended = parse(AppendedMessages.from_document, answer)
            revision = None if revision is None else appended.revision
        if appended is None:
            found = await self._call("GET", _path(session_id), params={"limit": 0})
            return parse(AppendedMessages.from_document, found)
        return appended

    @explain_call(SAY)
    async def say(
        self,
        session_id: str,
        user_id: str | None = None,
        *,
        user: str | None = None,
        assistant: str | None = None,
        uses: Uses | None = None,
        join: bool = False,
    ) -> AppendedMessages:
        """Append messages of a user and an assistant; create the conversation if there is none.

            client.conversations.say("chat-42", "ada", user="Hello", assistant="Hi")

        Args:
            session_id: the conversation.
            user_id: the user of the conversation; by default, a new one belongs to the caller.
            user, assistant: the text of each, in this order.
            uses: a recall, items or references that `assistant` was made from.
            join: continue a conversation of another principal or user.

        Raises:
            ConversationNotOwned: another principal created it, or it belongs to another user.
            ValueError: neither `user` nor `assistant` is given, or `uses` without `assistant`.
        """
        said: list[dict[str, Any]] = [
            {"role": role, "content": text}
            for role, text in (("user", user), ("assistant", assistant))
            if text is not None
        ]
        if not said:
            raise ValueError(f"say needs user, assistant, or both; {SAY}")
        if uses is not None:
            if assistant is None:
                raise ValueError(
                    "uses needs assistant, the answer that was made from these memories"
                )
            said[-1]["uses"] = uses
        return await self.extend(session_id, said, user_id, join=join)

    async def extend(
        self,
        session_id: str,
        messages: Sequence[Mapping[str, Any]],
        user_id: str | None = None,
        *,
        join: bool = False,
    ) -> AppendedMessages:
        """Append messages to a conversation of the caller, and create it if there is none.

            client.conversations.extend("chat-42", [{"role": "tool", "content": "42"}], "ada")

        Args:
            session_id: the conversation.
            messages: as for `append`.
            user_id: the user of the conversation; by default, a new one belongs to the caller.
            join: continue a conversation of another principal or user.

        Raises:
            ConversationNotOwned: another principal created it, or it belongs to another user.
        """
        expected = expect_own(user_id, join=join)
        try:
            return await self.append(session_id, messages, **expected)
        except MemoryNotFoundError:
            owner = user_id or (await self._client.principals.cached_me()).id
            with suppress(MemoryConflictError):
                await self.put(session_id, owner, revision=0)
        return await self.append(session_id, messages, **expected)

    async def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        max_tokens: int | None = None,
        **fields: Unpack[RecallFields],
    ) -> Recall:
        """Search messages of the conversations that the caller may read; also return neighbors.

            client.conversations.search("What did we promise in March?", user_id="ada").text

        Args:
            query: what to find, in words.
            user_id: only conversations of this user.
            since, until: only messages of this time.
            max_tokens: the maximum size of `text`.
            fields: `session_id`, `tags`, `exclude`, `top_k`, `min_score`, `neighbours`, `explain`.
        """
        return await ask(
            self._client,
            f"{_CONVERSATIONS}/search",
            query,
            user_id=user_id,
            since=since,
            until=until,
            max_tokens=max_tokens,
            fields=fields,
        )

    async def pop(
        self, session_id: str, *, revision: int | None = None
    ) -> ConversationMessage | None:
        """Remove and return the last message, exactly once; None if there is none.

            client.conversations.pop("chat-42").content

        Args:
            revision: only if the conversation has this revision.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
            MemoryConflictError: it has another revision.
        """
        answer = await self._call("POST", f"{_path(session_id)}/messages/pop", version=revision)
        popped = get_member(answer, "message")
        return None if popped is None else parse(ConversationMessage.from_document, popped)

    async def delete(self, session_id: str, *, revision: int | None = None) -> bool:
        """Delete a conversation; return True if it existed.

            client.conversations.delete("chat-42")

        Args:
            revision: delete only this one.

        Raises:
            MemoryConflictError: it has another revision.
        """
        return await self._delete(_path(session_id), revision)

    async def delete_archived(self, session_id: str) -> bool:
        """Delete an archived conversation; return True if it existed.

        client.conversations.delete_archived("chat-42")
        """
        return await self._delete(f"{_path(session_id)}/archive")

    def list(
        self,
        user_id: str | None = None,
        *,
        tags: Iterable[str] | None = None,
        archived: bool = False,
        **paging: Unpack[Paging],
    ) -> AsyncPages[ConversationHead]:
        """Return conversations that you may read, without messages.

            [each.session_id for each in client.conversations.list("ada", limit=20)]

        Args:
            user_id: only those of this user, the last updated first; by default, those of all
                users, the last created first.
            tags: only conversations with all of these.
            archived: list archived conversations of all users, the last expired first.
            paging: `limit`, `page_size`, `after`.

        Raises:
            ValueError: raised when `archived` is combined with `user_id`.
        """
        if archived and user_id is not None:
            raise ValueError("archived conversations are listed for all users")
        path = _CONVERSATIONS
        if user_id is not None:
            path = f"/api/v1/users/{quote_segment(user_id)}/conversations"
        asked = drop_none(tags=join_tags(tags), archived=archived or None)
        return self._list(path, "conversations", ConversationHead.from_document, paging, asked)


def _to_fields(fields: ConversationFields) -> Document:
    given: Document = {**fields}
    for name in given.keys() & {"agent_participants", "shared_with", "tags"}:
        given[name] = to_list(given[name])
    return given | {name: render_time(given[name]) for name in given.keys() & {"ttl", "expires_at"}}


def _listed(names: Iterable[str] | Unset) -> list[str] | Unset | None:
    return names if names is UNSET else to_list(names)


def _said(page: Document) -> list[Document]:
    return parse_items(get_member(page, "messages"))


def _read_messages(page: Document) -> list[ConversationMessage]:
    return [parse(ConversationMessage.from_document, each) for each in _said(page)]


def _path(session_id: str) -> str:
    return f"{_CONVERSATIONS}/{quote_segment(session_id)}"
