"""`client.conversations`: what was said, however much (Agent Memory Protocol §3)."""

from collections.abc import Iterator, Iterable, Mapping, Sequence
from typing import Any

from agent_memory._sync.resource import Resource
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.message_pieces import split_messages
from agent_memory.requests import (
    UNSET,
    Unset,
    drop_none,
    drop_unset,
    join_tags,
    quote_segment,
    render_json,
    to_list,
)
from agent_memory.responses import get_member, parse, parse_items, parse_next_offset

_CONVERSATIONS = "/api/v1/conversations"
_AT_ONCE = 50  # messages of one append
_MOST_BESIDE = 1_000_000  # bytes of other fields that a body has beside its messages
_MOST_LAST = 1000
_READS = 5

Document = dict[str, Any]
Documents = list[Document]


class Conversations(Resource):
    """Conversations as the service's documents; `agent_memory.memory_store` has them as objects."""

    def put(
        self,
        session_id: str,
        user_id: str,
        messages: Iterable[Mapping[str, Any]] = (),
        *,
        revision: int | None = None,
        **fields: Any,
    ) -> Document:
        """Store a whole conversation of any length, in place of the one before it, in one step.

        What a request can't carry is uploaded in pieces before, and shown by one write.

        Args:
            messages: `role` and `content` of each, maybe `timestamp` and `metadata`.
            revision: replace only this one; 0: only if there is none.
            fields: `metadata`, `agent_participants`, `shared_with`, `tags`, `ttl`, `sensitivity`.

        Raises:
            MemoryConflictError: it is at another revision.
            MemoryAccessError: it is somebody else's.
        """
        said = [dict(message) for message in messages]
        body: Document = {"user_id": user_id, **drop_none(**fields)}
        pieces = split_messages(said)
        if len(pieces) == 1 and len(render_json(body)) <= _MOST_BESIDE:
            body["messages"] = said
        else:
            body["upload_id"] = self._upload(session_id, pieces, body)
        return self._call("PUT", _path(session_id), json=body, version=revision)

    def _upload(
        self, session_id: str, pieces: Sequence[Documents], fields: Mapping[str, Any]
    ) -> str:
        """Store messages that nothing shows yet; return the id of the upload."""
        path = f"{_path(session_id)}/uploads"
        begun = {name: fields[name] for name in ("sensitivity", "version") if name in fields}
        upload = self._call("POST", path, json=begun)
        upload_id = parse(str, get_member(upload, "upload_id"))
        offset = 0
        for piece in filter(None, pieces):
            body = {"offset": offset, "messages": piece}
            self._call("POST", f"{path}/{upload_id}/messages", json=body)
            offset += len(piece)
        return upload_id

    def change(
        self,
        session_id: str,
        *,
        revision: int | None = None,
        metadata: Mapping[str, Any] | Unset = UNSET,
        tags: Iterable[str] | Unset = UNSET,
        ttl: str | Unset | None = UNSET,
        agent_participants: Iterable[str] | Unset = UNSET,
        shared_with: Iterable[str] | Unset = UNSET,
    ) -> Document:
        """Change what is given of a conversation; its messages stay as they are.

        Args:
            revision: change only this one.
            ttl: `duration:P30D` and the like, from now on; None: no end.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
            MemoryConflictError: it is at another revision.
        """
        body = drop_unset(
            metadata=metadata,
            tags=_listed(tags),
            ttl=ttl,
            agent_participants=_listed(agent_participants),
            shared_with=_listed(shared_with),
        )
        return self._call("PATCH", _path(session_id), json=body, version=revision)

    def change_message(
        self,
        session_id: str,
        index: int,
        *,
        revision: int | None = None,
        content: Any = UNSET,
        role: str | Unset = UNSET,
        metadata: Mapping[str, Any] | Unset = UNSET,
    ) -> Document:
        """Change what is given of one message, such as to redact it; return the message.

        Args:
            index: of the message.
            revision: change only this one of the conversation.

        Raises:
            MemoryNotFoundError: raised when there is no such message.
            MemoryConflictError: the conversation is at another revision.
        """
        body = drop_unset(content=content, role=role, metadata=metadata)
        path = f"{_path(session_id)}/messages/{index}"
        return self._call("PATCH", path, json=body, version=revision)

    def remove(
        self, session_id: str, first: int, end: int | None = None, *, revision: int | None = None
    ) -> int:
        """Remove the messages from one index to before another one, in one step.

        The others keep their indexes.

        Args:
            end: None: to the end of the conversation.
            revision: change only this one.

        Returns:
            How many were removed; 0 also when an earlier attempt of this call removed them.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
            MemoryConflictError: it is at another revision.
        """
        asked = drop_none(**{"from": first, "to": end})
        path = f"{_path(session_id)}/messages"
        answer = self._call("DELETE", path, params=asked, version=revision)
        return parse(int, get_member(answer, "removed"))

    def get_metadata(self, session_id: str) -> Document | None:
        """Return a conversation without its messages; None if there is none."""
        try:
            found = self._call("GET", _path(session_id), params={"limit": 0})
        except MemoryNotFoundError:
            return None
        return {name: value for name, value in found.items() if name not in _OF_A_PAGE}

    def messages(
        self, session_id: str, *, offset: int = 0, archived: bool = False
    ) -> Iterator[Document]:
        """Yield all messages from `offset` on, oldest first; pages are fetched as they are needed.

        Args:
            archived: those of the conversation whose retention is over, from cold storage.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
        """
        path = f"{_path(session_id)}/archive" if archived else _path(session_id)
        following: int | None = offset
        while following is not None:
            page = self._call("GET", path, params={"offset": following})
            for message in _said(page):
                yield message
            following = parse_next_offset(page)

    def get(self, session_id: str) -> Document:
        """Return a conversation with all its `messages`, as it stood at one moment.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
            MemoryConflictError: it is written faster than it can be read.
        """
        for _ in range(_READS):
            page = found = self._call("GET", _path(session_id))
            said, revision = _said(found), get_member(found, "revision")
            while parse_next_offset(page) is not None and get_member(page, "revision") == revision:
                asked = {"offset": parse_next_offset(page)}
                page = self._call("GET", _path(session_id), params=asked)
                said += _said(page)
            if get_member(page, "revision") != revision:
                continue
            if "metadata" not in found:  # they leave no room for messages
                found |= self._call("GET", _path(session_id), params={"limit": 0})
            if get_member(found, "revision") == revision:
                return found | {"messages": said}
        raise MemoryConflictError("the conversation is written faster than it can be read")

    def get_last(self, session_id: str, count: int) -> Documents:
        """Return the newest `count` messages (at most 1,000 of them), oldest first."""
        asked = {"last": min(count, _MOST_LAST)}
        found = self._call("GET", _path(session_id), params=asked)
        said, following = _said(found), parse_next_offset(found)
        while following is not None:  # cut, for its size
            page = self._call("GET", _path(session_id), params={"offset": following})
            said += _said(page)
            following = parse_next_offset(page)
        return said

    def append(
        self,
        session_id: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        revision: int | None = None,
    ) -> Document:
        """Add messages at the end, each exactly once; return the `revision` and count.

        Up to 50 stand together; more come in groups of 50. Without messages, nothing happens.

        Args:
            revision: append only to this one.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
            MemoryConflictError: it is at another revision.
        """
        after: Document = {}
        path = f"{_path(session_id)}/messages"
        for group in filter(None, split_messages([dict(each) for each in messages], _AT_ONCE)):
            after = self._call("POST", path, json={"messages": group}, version=revision)
            if revision is not None:
                revision = parse(int, get_member(after, "revision"))
        return {name: value for name, value in after.items() if name != "messages"}

    def pop(self, session_id: str) -> Document | None:
        """Take the last message off, exactly once; None if there is none.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
        """
        answer = self._call("POST", f"{_path(session_id)}/messages/pop")
        popped = get_member(answer, "message")
        return None if popped is None else parse(dict, popped)

    def delete(self, session_id: str, *, revision: int | None = None) -> bool:
        """Delete a conversation; whether there was one.

        Args:
            revision: delete only this one.

        Raises:
            MemoryConflictError: it is at another revision.
        """
        return self._delete(_path(session_id), revision)

    def delete_archived(self, session_id: str) -> bool:
        """Delete a conversation from cold storage; whether there was one.

        client.conversations.delete_archived("chat-42")
        """
        return self._delete(f"{_path(session_id)}/archive")

    def list(
        self,
        user_id: str,
        *,
        tags: Iterable[str] | None = None,
        offset: int = 0,
        page_size: int = 100,
    ) -> Iterator[Document]:
        """Yield a user's conversations from `offset` on, the last updated first, without messages.

        They come a page at a time as they are asked for.

        Args:
            tags: all of them.
            page_size: how many a page has, at most 1,000.
        """
        path = f"/api/v1/users/{quote_segment(user_id)}/conversations"
        asked = drop_none(limit=page_size, tags=join_tags(tags), total="none")
        position: Document | None = {"offset": offset}
        while position is not None:
            page = self._call("GET", path, params=asked | position)
            for conversation in parse_items(get_member(page, "conversations")):
                yield conversation
            position = {"after": page["next"]} if "next" in page else None


_OF_A_PAGE = frozenset({"messages", "offset", "next_offset"})


def _listed(names: Iterable[str] | Unset) -> list[str] | Unset | None:
    return names if names is UNSET else to_list(names)


def _said(page: Document) -> Documents:
    return parse_items(get_member(page, "messages"))


def _path(session_id: str) -> str:
    return f"{_CONVERSATIONS}/{quote_segment(session_id)}"
