"""`client.conversations`: what was said, however much (Agent Memory Protocol §3; contract §9)."""

from collections.abc import Iterator, Iterable, Mapping, Sequence
from typing import Any

from agent_memory._sync.resource import Resource
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.requests import drop_none, join_tags, quote_segment
from agent_memory.responses import get_member, parse, parse_items, parse_next_offset

_CONVERSATIONS = "/api/v1/conversations"
_AT_ONCE = 50  # messages of one append
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
        """Store a whole conversation, in place of the one before it.

        Args:
            messages: `role` and `content` of each, maybe `timestamp` and `metadata`.
            revision: replace only this one; 0: only if there is none.
            fields: `metadata`, `agent_participants`, `shared_with`, `tags`, `ttl`, `sensitivity`.

        Raises:
            MemoryConflictError: it is at another revision.
            MemoryAccessError: it is somebody else's.
        """
        said = [dict(message) for message in messages]
        body = {"user_id": user_id, "messages": said, **drop_none(**fields)}
        return self._call("PUT", _path(session_id), json=body, version=revision)

    def head(self, session_id: str) -> Document | None:
        """Return a conversation without its messages; None if there is none."""
        try:
            found = self._call("GET", _path(session_id), params={"limit": 1})
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

    def whole(self, session_id: str) -> Document:
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
            if get_member(page, "revision") == revision:
                return found | {"messages": said}
        raise MemoryConflictError("the conversation is written faster than it can be read")

    def last(self, session_id: str, count: int) -> Documents:
        """Return the newest `count` messages (at most 1,000 of them), oldest first."""
        asked = {"last": min(count, _MOST_LAST)}
        found = self._call("GET", _path(session_id), params=asked)
        said, following = _said(found), parse_next_offset(found)
        while following is not None:  # cut, for its size
            page = self._call("GET", _path(session_id), params={"offset": following})
            said += _said(page)
            following = parse_next_offset(page)
        return said

    def append(self, session_id: str, messages: Sequence[Mapping[str, Any]]) -> Document:
        """Add messages at the end, each exactly once; return the `revision` and count.

        Up to 50 stand together; more come in groups of 50. Without messages, nothing happens.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
        """
        after: Document = {}
        path = f"{_path(session_id)}/messages"
        for start in range(0, len(messages), _AT_ONCE):
            group = [dict(message) for message in messages[start : start + _AT_ONCE]]
            after = self._call("POST", path, json={"messages": group})
        return {name: value for name, value in after.items() if name != "messages"}

    def pop(self, session_id: str) -> Document | None:
        """Take the last message off, exactly once; None if there is none.

        Raises:
            MemoryNotFoundError: raised when there is no such conversation.
        """
        answer = self._call("POST", f"{_path(session_id)}/messages/pop")
        popped = get_member(answer, "message")
        return None if popped is None else parse(dict, popped)

    def delete(self, session_id: str) -> bool:
        """Delete a conversation; whether there was one."""
        return self._delete(_path(session_id))

    def of_user(
        self,
        user_id: str,
        *,
        tags: Iterable[str] | None = None,
        offset: int = 0,
        page_size: int = 100,
    ) -> Iterator[Document]:
        """Yield a user's conversations from `offset` on, newest first, without their messages.

        They come a page at a time as they are asked for.

        Args:
            tags: all of them.
            page_size: how many a page has, at most 1,000.
        """
        path = f"/api/v1/users/{quote_segment(user_id)}/conversations"
        asked = drop_none(limit=page_size, tags=join_tags(tags))
        following: int | None = offset
        while following is not None:
            page = self._call("GET", path, params=asked | {"offset": following})
            for conversation in parse_items(get_member(page, "conversations")):
                yield conversation
            following = parse_next_offset(page)


_OF_A_PAGE = frozenset({"messages", "offset", "next_offset"})


def _said(page: Document) -> Documents:
    return parse_items(get_member(page, "messages"))


def _path(session_id: str) -> str:
    return f"{_CONVERSATIONS}/{quote_segment(session_id)}"
