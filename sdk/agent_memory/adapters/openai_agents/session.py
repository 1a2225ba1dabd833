"""A `Session` of the OpenAI Agents SDK: its items as a conversation of the service."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from agents import RunContextWrapper
from agents.items import TResponseInputItem
from agents.memory import SessionSettings
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit

from agent_memory import AsyncClient, Client
from agent_memory.adapters.openai_agents.large_items import LargeItems
from agent_memory.conversion import to_async
from agent_memory.exceptions import AgentMemoryError, MemoryConflictError, MemoryNotFoundError
from agent_memory.model import ConversationHead, Document, Sensitivity
from agent_memory.requests import expect_own, render_json

_MOST_LAST = 1000  # items of one call
_MOST_BYTES = 60_000  # bytes of an item; a message, with role and time, has 65,536
_AT_ONCE = 50  # items that are stored together
_ATTEMPTS = 5
_LARGE = "large_item"


class AgentMemorySession:
    """The items of one session, as a conversation of the service.

    Concurrent additions to one session are all kept: up to 50 items of one call are stored
    together, more in groups of 50. An item is popped once, even if the network fails. Items may
    have any size: an item above 60,000 bytes of JSON is stored beside the conversation. It follows
    the protocol `agents.memory.Session`. Any event loop and thread may use it.

    Args:
        session_id: names the conversation within the tenant; the principal that adds the first item
            owns it.
        client: calls as that principal; stays open.
        user_id: the user of the conversation; by default the principal.
        join: continue a conversation of another principal or user.
        agent_participants: further principals that may read and write it.
        ttl: its retention, when the first item is added: seconds, a timedelta, or an ISO 8601
            duration.
        sensitivity: `confidential` or `restricted` to store it encrypted.
        session_settings: its `limit` applies to `get_items`; a dict is accepted, too.

    Raises:
        TypeError: raised when the client is no client of this package.
    """

    def __init__(
        self,
        session_id: str,
        client: Client | AsyncClient,
        *,
        user_id: str | None = None,
        join: bool = False,
        agent_participants: Sequence[str] = (),
        ttl: str | float | timedelta | None = None,
        sensitivity: Sensitivity | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = coerce_session_settings(
            {} if session_settings is None else session_settings
        )
        self._client = to_async(client)
        self._large = LargeItems(session_id, self._client)
        self._user_id = user_id
        self._expected = expect_own(user_id, join=join)
        self._fields: dict[str, Any] = {
            "agent_participants": list(agent_participants),
            "ttl": ttl,
            "sensitivity": sensitivity,
        }

    async def get_items(
        self,
        limit: int | None = None,
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002 - the protocol's
    ) -> list[TResponseInputItem]:
        """Return the items, oldest first: all of them, or the latest `limit`."""
        limit = resolve_session_limit(limit, self.session_settings)
        if limit is not None and limit <= 0:
            return []
        try:
            said = await self._messages(limit)
        except MemoryNotFoundError:
            return []
        items = [await self._item(message) for message in said]
        return [item for item in items if item is not None]

    async def add_items(
        self,
        items: list[TResponseInputItem],
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002 - the protocol's
    ) -> None:
        """Add items at the end, in their order.

        Raises:
            AgentMemoryError: they were not added, or it is unknown (`may_have_happened`).
            TypeError, ValueError: an item has no form in JSON; none is added.
        """
        texts = [(item, render_json(item)) for item in items]
        for start in range(0, len(texts), _AT_ONCE):
            await self._add(texts[start : start + _AT_ONCE])

    async def pop_item(
        self,
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002 - the protocol's
    ) -> TResponseInputItem | None:
        """Remove the latest item and return it; None if there is none."""
        try:
            while (popped := await self._client.conversations.pop(self.session_id)) is not None:
                item = await self._item(popped.raw)
                await self._drop([popped.raw])
                if item is not None:
                    return item
        except MemoryNotFoundError:
            return None
        return None

    async def clear_session(
        self,
        *,
        wrapper: RunContextWrapper[Any] | None = None,  # noqa: ARG002 - the protocol's
    ) -> None:
        """Remove all items."""
        await self._client.conversations.delete(self.session_id)
        await self._large.clear()

    def close(self) -> None:
        """Do nothing: the session has no open resources, and its client stays open.

        It exists so that the session can replace a `SQLiteSession`.
        """

    async def _messages(self, limit: int | None) -> list[Document]:
        conversations = self._client.conversations
        if limit is not None and limit <= _MOST_LAST:
            last = await conversations.get_last(self.session_id, limit)
            return [each.raw for each in last]
        said = [each.raw async for each in conversations.list_messages(self.session_id)]
        return said if limit is None else said[-limit:]

    async def _add(self, texts: Sequence[tuple[TResponseInputItem, bytes]]) -> None:
        said: list[dict[str, Any]] = []
        try:
            for item, text in texts:
                said.append(await self._message(item, text))
            await self._append(said)
        except AgentMemoryError as failed:
            if not failed.may_have_happened:
                with suppress(AgentMemoryError):
                    await self._drop(said)
            raise

    async def _message(self, item: TResponseInputItem, text: bytes) -> dict[str, Any]:
        role = _role(item)
        if len(text) <= _MOST_BYTES:
            return {"role": role, "content": item}
        session = await self._client.conversations.get_head(self.session_id) or await self._begun()
        await self._assert_expected(role)
        name = await self._large.put(text, session.raw)
        return {"role": role, "content": None, "metadata": {_LARGE: name}}

    async def _assert_expected(self, role: str) -> None:
        """Raise ConversationNotOwned now: the session's creator could read large items."""
        nothing = [{"role": role, "content": None}]  # no conversation is at revision 0
        with suppress(MemoryConflictError, MemoryNotFoundError):
            await self._client.conversations.append(
                self.session_id, nothing, revision=0, **self._expected
            )

    async def _item(self, message: Document) -> TResponseInputItem | None:
        """Return the item of a message; None if it has been removed."""
        large = message["metadata"].get(_LARGE)
        item: TResponseInputItem | None = (
            message["content"] if large is None else await self._large.get(large)
        )
        return item

    async def _drop(self, messages: Sequence[Document]) -> None:
        """Remove the items that messages have beside the conversation."""
        for message in messages:
            large = message.get("metadata", {}).get(_LARGE)
            if large is not None:
                await self._large.delete(large)

    async def _append(self, messages: list[dict[str, Any]]) -> None:
        """Append to the conversation; create it if there is none."""
        for attempt in range(_ATTEMPTS):
            try:
                await self._client.conversations.append(self.session_id, messages, **self._expected)
                return
            except MemoryNotFoundError as missing:
                made = await self._begin()
                unknown = missing.may_have_happened and not made
                if unknown or attempt + 1 == _ATTEMPTS:
                    raise

    async def _begun(self) -> ConversationHead:
        await self._begin()
        head = await self._client.conversations.get_head(self.session_id)
        if head is None:
            raise MemoryConflictError("another process is clearing this session; try again")
        return head

    async def _begin(self) -> bool:
        """Create the conversation, unless another process has."""
        user_id = self._user_id or (await self._client.principals.cached_me()).id
        try:
            await self._client.conversations.put(
                self.session_id, user_id, revision=0, **self._fields
            )
        except MemoryConflictError:
            return False
        return True


def _role(item: TResponseInputItem) -> str:
    """Return the role of an item for readers of the conversation."""
    named: Any = item
    return str(named.get("role") or named.get("type") or "item")[:64]
