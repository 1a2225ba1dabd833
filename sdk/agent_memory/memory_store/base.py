"""The interface of memory stores (Agent Memory Protocol §3)."""

from abc import ABC, abstractmethod
from typing import Any

from agent_memory.memory_store.conversation import ConversationContext


class BaseMemoryStore(ABC):
    """Stores conversations, and agents' states for their owners.

    Everything stored is JSON: `str`, `int`, `float`, `bool`, None, and lists and `str`-keyed dicts
    of them; anything else is a `TypeError`. Stored and retrieved objects belong to the caller:
    changing them changes nothing in the store.

    Ids of sessions and keys have 1-255 characters, all other ids 1-128, roles 1-64; `.` and `..`
    are not allowed. Otherwise every method raises `ValueError`.
    """

    @abstractmethod
    def store_conversation(
        self, session_id: str, user_id: str, conversation: ConversationContext
    ) -> None:
        """Create or replace a whole conversation, in one step.

        It replaces only the revision that the caller has seen: that of the given conversation if it
        was retrieved or stored, else the latest that this store has retrieved or stored.

            said = ConversationContext("chat-1", [Message("user", "Hello")])
            store.store_conversation("chat-1", "ada", said)

        Args:
            session_id: the conversation's session.
            user_id: the user of the conversation.
            conversation: of any length.

        Raises:
            TypeError: it has a value that isn't JSON.
            ValueError: it is of another session.
            TooLargeError: a message or the metadata is too large.
            MemoryConflictError: the caller hasn't seen the present revision; retrieve it.
        """

    @abstractmethod
    def retrieve_conversation(self, session_id: str) -> ConversationContext | None:
        """Return the conversation; None if there is none.

        store.retrieve_conversation("chat-1")
        """

    @abstractmethod
    def delete_conversation(self, session_id: str) -> bool:
        """Delete a conversation.

            store.delete_conversation("chat-1")

        Returns:
            True if it is gone now, or never was; False if it couldn't be deleted.
        """

    @abstractmethod
    def list_conversations_for_user(
        self, user_id: str, limit: int = 100, offset: int = 0
    ) -> list[dict[str, Any]]:
        """Return a user's conversations without messages, the last updated first.

            [each["session_id"] for each in store.list_conversations_for_user("ada")]

        Args:
            user_id: the user.
            limit: the maximum number, from 0.
            offset: the number to skip, from 0.

        Returns:
            `session_id`, `user_id`, `created_at` and `last_updated` (datetimes in UTC), `summary`
            (that of the metadata, or None), `message_count`, `metadata`, `agent_participants` and
            `tags` of each.

        Raises:
            ValueError: limit or offset is negative.
        """

    @abstractmethod
    def store_agent_state(self, agent_id: str, owner_id: str, key: str, state_data: Any) -> None:
        """Create or replace a state of an agent for an owner.

            store.store_agent_state("assistant", "ada", "tone", {"formal": True})

        Args:
            agent_id: the agent, or the agent type whose agents share the state.
            owner_id: the owner: a user, a session or a system; without a slash.
            key: names the state.
            state_data: any JSON value.

        Raises:
            TypeError: it isn't JSON.
            ValueError: `owner_id` has a slash.
            TooLargeError: it is too large.
        """

    @abstractmethod
    def retrieve_agent_state(self, agent_id: str, owner_id: str, key: str) -> Any | None:
        """Return a state; None if there is none.

        store.retrieve_agent_state("assistant", "ada", "tone")
        """

    @abstractmethod
    def delete_agent_state(self, agent_id: str, owner_id: str, key: str) -> bool:
        """Delete a state.

            store.delete_agent_state("assistant", "ada", "tone")

        Returns:
            True if it is gone now, or never was; False if it couldn't be deleted.
        """

    @abstractmethod
    def get_all_agent_states(self, agent_id: str, owner_id: str) -> dict[str, Any]:
        """Return all of an agent's states for an owner, by key.

        store.get_all_agent_states("assistant", "ada")["tone"]
        """
