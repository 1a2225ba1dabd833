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

_MOST_LAST = 1000  # items that one call gives
_MOST_BYTES = 60_000  # of an item; a message, which has its role and time as well, has 65,536
_AT_ONCE = 50  # items that are stored together
_ATTEMPTS = 5
_LARGE = "large_item"


class AgentMemorySession:
    """The items of one session, as a conversation of the service.

    Those who add to one session at the same time lose nothing: up to 50 items of one call are
    stored together, more come in groups of 50. A popped item is popped once, however often the
    network fails. Items may be of any size: one above 60,000 bytes of JSON is kept beside the
    conversation. It follows the protocol `agents.memory.Session`, and may be used from any event
    loop and thread.

    Args:
        session_id: names the conversation within the tenant; who adds its first item owns it.
        client: calls as that principal; stays open.
        user_id: whose conversation it is; by default the principal's own.
        join: continue a conversation of another principal or user.
        agent_participants: further principals that may read and write it.
        ttl: its retention, when the first item is added: seconds, a timedelta, or an ISO 8601
            duration.
        sensitivity: `confidential` or `restricted` to store it encrypted.
        session_settings: its `limit` bounds `get_items`; a dict will do.

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
            AgentMemoryError: they were not added; or that isn't known (`may_have_happened`).
            TypeError, ValueError: one has no form in JSON; none is added.
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
        """Do nothing: the session holds nothing open, and its client stays open.

        It is there so that one can be put in the place of a `SQLiteSession`.
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
        """Raise ConversationNotOwned now: who created the session reads what is kept beside it."""
        nothing = [{"role": role, "content": None}]  # no conversation is at revision 0
        with suppress(MemoryConflictError, MemoryNotFoundError):
            await self._client.conversations.append(
                self.session_id, nothing, revision=0, **self._expected
            )

    async def _item(self, message: Document) -> TResponseInputItem | None:
        """Return what a message holds; None if it has been removed."""
        large = message["metadata"].get(_LARGE)
        item: TResponseInputItem | None = (
            message["content"] if large is None else await self._large.get(large)
        )
        return item

    async def _drop(self, messages: Sequence[Document]) -> None:
        """Remove what messages keep beside the conversation."""
        for message in messages:
            large = message.get("metadata", {}).get(_LARGE)
            if large is not None:
                await self._large.delete(large)

    async def _append(self, messages: list[dict[str, Any]]) -> None:
        """Append to the conversation, which is made if there is none."""
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
            raise MemoryConflictError("somebody else clears this session; try again")
        return head

    async def _begin(self) -> bool:
        """Make the conversation, unless somebody else was faster."""
        user_id = self._user_id or (await self._client.principals.cached_me()).id
        try:
            await self._client.conversations.put(
                self.session_id, user_id, revision=0, **self._fields
            )
        except MemoryConflictError:
            return False
        return True


def _role(item: TResponseInputItem) -> str:
    """Return what a reader of the conversation sees an item as."""
    named: Any = item
    return str(named.get("role") or named.get("type") or "item")[:64]
