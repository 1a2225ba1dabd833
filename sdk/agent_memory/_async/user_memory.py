"""`client.for_user`: the memory of one user of your app."""

from collections.abc import Callable, Iterable
from datetime import date
from typing import TYPE_CHECKING, Any, Unpack

from agent_memory._async.pages import AsyncPages
from agent_memory._async.recall import RecallFields
from agent_memory.exceptions import MemoryAccessError, MemoryNotFoundError
from agent_memory.hints import SAY, explain_call, refuse_name
from agent_memory.message_pieces import Uses
from agent_memory.model import AppendedMessages, Entry, EntryFields, Recall, SearchResult
from agent_memory.page import Paging
from agent_memory.receipts import Forgotten
from agent_memory.requests import quote_segment
from agent_memory.responses import parse_object

if TYPE_CHECKING:
    from agent_memory._async.client import AsyncClient

Value = dict[str, Any]


class AsyncUserMemory:
    """The memory of one user of your app, with the app's own key; for any number of users.

    Entries are semantic, in the user's namespaces: `users/<user>/<namespace>`. The prefix
    must be private. A principal with `memory.admin` sets this once for all users:

        admin.namespaces.set_permissions("users/*", default="none", allow={"assistant": "write"})

    Until then every write is rejected, so that the whole tenant can't read entries by mistake.

        ada = client.for_user("ada@example.com")
        ada.put("tone", {"formal": True})
        ada.search("how does she want to be addressed")
    """

    def __init__(self, client: "AsyncClient", user_id: str, prefix: str, private: set[str]) -> None:
        """`private` has the prefixes that the client knows to be private."""
        if not isinstance(user_id, str):
            raise TypeError(
                f"user_id must be a str, not {type(user_id).__name__}; use str(user_id)"
            )
        if not user_id or not prefix:
            raise ValueError("user_id and prefix must be texts of at least one character")
        self._client = client
        self._memory = client.memory
        self._rule = f"{prefix}/*"
        self._root = f"{prefix}/{quote_segment(user_id).replace('*', '%2A')}/"
        self._private = private
        self.user_id = user_id

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            refuse_name(type(self).__name__, name)

    async def remember(
        self, memory: str | Value, *, tags: Iterable[str] | None = None, **fields: Any
    ) -> Entry:
        """Store what you learned about the user; the same text is stored once.

            client.for_user("ada").remember("Prefers e-mail", tags=["contact"])

        Args:
            memory: a text, or a JSON object.
            tags: labels to query by.
            fields: as for `client.memory.remember`.

        Raises:
            MemoryAccessError: the memory of users isn't private yet, or the key may not write.
            ValueError: the client has another prefix than `users`.
        """
        if self._rule != "users/*":
            raise ValueError("remember stores below users/; with another prefix, use put")
        return await self._memory.remember(memory, user_id=self.user_id, tags=tags, **fields)

    async def put(
        self, key: str, value: Value, *, namespace: str = "memory", **fields: Unpack[EntryFields]
    ) -> Entry:
        """Create or replace an entry of the user.

            client.for_user("ada").put("tone", {"formal": True}, tags=["style"])

        Args:
            key: the entry's name.
            value: a JSON object, up to `memory.limits.value_bytes`.
            namespace: groups the user's entries.
            fields: as for `client.memory.put`.

        Raises:
            MemoryAccessError: the prefix isn't private yet, or the key may not write in it.
        """
        await self._assert_private()
        place = self._root + namespace
        return await self._memory.put(place, key, value, memory_type="semantic", **fields)

    async def get(self, key: str, *, namespace: str = "memory") -> Value | None:
        """Return the value of an entry of the user; None if there is none.

        client.for_user("ada").get("tone")
        """
        return await self._memory.get(self._root + namespace, key, memory_type="semantic")

    async def update(
        self,
        key: str,
        fn: Callable[[Value], Value],
        *,
        initial: Value | None = None,
        namespace: str = "memory",
    ) -> Entry:
        """Read the value and write `fn(value)`; no update is lost.

        client.for_user("ada").update("visits", lambda v: {"n": v["n"] + 1}, initial={"n": 0})

        Raises:
            MemoryAccessError: the prefix isn't private yet, or the key may not write in it.
            MemoryNotFoundError: there is no entry, and no `initial`.
            MemoryConflictError: other writers were faster for 30 seconds.
        """
        await self._assert_private()
        place = self._root + namespace
        return await self._memory.update(place, key, fn, initial=initial, memory_type="semantic")

    async def delete(self, key: str, *, namespace: str = "memory") -> bool:
        """Delete an entry of the user; return True if it existed.

        client.for_user("ada").delete("tone")
        """
        return await self._memory.delete(self._root + namespace, key, memory_type="semantic")

    def query(
        self,
        *,
        namespace: str | None = None,
        tags: Iterable[str] | None = None,
        **paging: Unpack[Paging],
    ) -> AsyncPages[Entry]:
        """Return the user's entries, newest first, in all of the user's namespaces or in one.

            client.for_user("ada").query(tags=["style"]).list()

        Args:
            namespace: only entries of this namespace.
            tags: only entries with all of these.
            paging: `limit`, `page_size`, `after`.
        """
        place = f"{self._root}{namespace or '*'}"
        return self._memory.query(namespace=place, tags=tags, memory_type="semantic", **paging)

    async def search(
        self, query: str, *, top_k: int = 5, min_score: float | None = None
    ) -> list[SearchResult]:
        """Find the user's entries by meaning, words and ids, best first.

        client.for_user("ada").search("how does she want to be addressed")
        """
        return await self._memory.search(
            query,
            namespace=f"{self._root}*",
            top_k=top_k,
            min_score=min_score,
            memory_type="semantic",
        )

    @explain_call(SAY)
    async def say(
        self,
        session_id: str,
        *,
        user: str | None = None,
        assistant: str | None = None,
        uses: Uses | None = None,
        join: bool = False,
    ) -> AppendedMessages:
        """Append what was said to a conversation of the user, and create it if there is none.

            client.for_user("ada").say("chat-42", user="Hello", assistant="How can I help?")

        Args:
            session_id: the conversation.
            user, assistant: the text of each, in this order.
            uses: a recall, items or references that `assistant` was made from.
            join: continue a conversation of another principal or user.

        Raises:
            ConversationNotOwned: another principal created it, or it belongs to another user.
        """
        return await self._client.conversations.say(
            session_id, self.user_id, user=user, assistant=assistant, uses=uses, join=join
        )

    async def recall(
        self,
        query: str,
        *,
        since: date | str | None = None,
        until: date | str | None = None,
        max_tokens: int | None = None,
        **fields: Unpack[RecallFields],
    ) -> Recall:
        """Ask all that is stored about the user one question.

            client.for_user("ada").recall("What did we promise her?", max_tokens=500).text

        Args:
            query: what to find, in words.
            since, until: only items about this period.
            max_tokens: the maximum size of `text`.
            fields: see `RecallFields`.
        """
        return await self._client.recall(
            query,
            user_id=self.user_id,
            since=since,
            until=until,
            max_tokens=max_tokens,
            **fields,
        )

    async def forget(self, reference: str | None = None) -> Forgotten:
        """Delete all that is stored about the user, or the item that a reference names.

            client.for_user("ada").forget()

        Deletes entries, facts, conversations, states, objects, and what was learned from them.

        Args:
            reference: of an item of a recall; None for everything.

        Returns:
            The numbers of what was deleted.

        Raises:
            MemoryAccessError: the key may not write the user's memory.
        """
        if reference is not None:
            return Forgotten(items=int(await self._client.forget(reference)))
        found = Forgotten()
        if self._rule != "users/*":
            place = f"{self._root}*"
            deleted = await self._memory.delete_batch(namespace=place, memory_type="semantic")
            found = Forgotten(entries=deleted)
        while True:
            body = {"user_id": self.user_id}
            done = parse_object(await self._client.request("POST", "/api/v1/forget", json=body))
            found = found.add(done)
            if done["complete"]:
                return found

    async def _assert_private(self) -> None:
        """Refuse to write where others of the tenant could read; checked once by a client."""
        if self._rule in self._private:
            return
        try:
            default = (await self._client.namespaces.get(self._rule)).permissions.default
        except MemoryNotFoundError:
            default = None
        except MemoryAccessError as refusal:
            raise MemoryAccessError(
                f"this key may not use the namespaces {self._rule!r}; allow it, with a key that "
                f"has memory.admin: client.namespaces.set_permissions({self._rule!r}, "
                'allow={"<your agent\'s id>": "write"})'
            ) from refusal
        if default != "none":
            raise MemoryAccessError(
                f"the namespaces {self._rule!r} aren't private yet; set this once, with a key that "
                f"has memory.admin: client.namespaces.set_permissions({self._rule!r}, "
                'default="none", allow={"<your agent\'s id>": "write"})'
            )
        self._private.add(self._rule)
