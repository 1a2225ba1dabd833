"""Strands' sessions as objects of the service: one for each session, agent and message."""

from datetime import timedelta
from typing import Any

from strands.session.repository_session_manager import RepositorySessionManager
from strands.session.session_repository import SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage

from agent_memory import AsyncClient, Client
from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.adapters.strands.documents import (
    Document,
    SessionDocuments,
    build_agent_key,
    build_agent_prefix,
    build_message_key,
    build_multi_agent_key,
    build_session_key,
    build_session_prefix,
)
from agent_memory.conversion import to_sync
from agent_memory.model import Sensitivity


class AgentMemorySessionManager(RepositorySessionManager, SessionRepository):  # type: ignore[misc]
    """A session of Strands, with its agents, messages, graphs and swarms; manager and repository.

    A message is one object, including images and documents. Existing objects are never created
    again: if two processes continue one session at the same time, one gets an error. Sessions
    belong to the principal. Any event loop and thread may use it.

    Args:
        session_id: names the session; without a slash.
        client: calls as the principal; stays open.
        ttl: the lifetime of each object, from its write: seconds, a timedelta, or an ISO 8601
            duration. None: until the session is deleted.
        sensitivity: `confidential` or `restricted` to store all encrypted.

    Raises:
        TypeError: raised when it is no client.
        ValueError: raised when the session's id has a slash.
        SessionException: the session can't be read or created.
    """

    def __init__(
        self,
        session_id: str,
        client: Client | AsyncClient,
        ttl: str | float | timedelta | None = None,
        sensitivity: Sensitivity | None = None,
        **kwargs: Any,
    ) -> None:
        self._documents = SessionDocuments(
            ObjectStorage(to_sync(client), "strands-sessions", ttl, sensitivity)
        )
        super().__init__(session_id=session_id, session_repository=self, **kwargs)

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        """Store a new session.

        Raises:
            SessionException: there is one of this id.
        """
        self._documents.create(build_session_key(session.session_id), session.to_dict())
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        """Return a session; None if there is none."""
        found = self._documents.read(build_session_key(session_id))
        return None if found is None else Session.from_dict(found)

    def delete_session(self, session_id: str, **kwargs: Any) -> None:
        """Delete a session with all its objects.

        Raises:
            SessionException: there is no such session.
        """
        if self._documents.read(build_session_key(session_id)) is None:
            raise SessionException(f"there is no session {session_id}")
        self._documents.delete_all(build_session_prefix(session_id))

    def create_agent(
        self,
        session_id: str,
        session_agent: SessionAgent,
        **kwargs: Any,
    ) -> None:
        """Store a new agent of a session.

        Raises:
            SessionException: there is one of this id.
        """
        self._documents.create(
            build_agent_key(session_id, session_agent.agent_id), session_agent.to_dict()
        )

    def read_agent(
        self,
        session_id: str,
        agent_id: str,
        **kwargs: Any,
    ) -> SessionAgent | None:
        """Return an agent; None if there is none."""
        found = self._documents.read(build_agent_key(session_id, agent_id))
        return None if found is None else SessionAgent.from_dict(found)

    def update_agent(
        self,
        session_id: str,
        session_agent: SessionAgent,
        **kwargs: Any,
    ) -> None:
        """Replace an agent; its creation time stays.

        Raises:
            SessionException: there is no such agent.
        """
        key = build_agent_key(session_id, session_agent.agent_id)
        session_agent.created_at = self._documents.read_existing(key)["created_at"]
        self._documents.write(key, session_agent.to_dict())

    def create_message(
        self,
        session_id: str,
        agent_id: str,
        session_message: SessionMessage,
        **kwargs: Any,
    ) -> None:
        """Store a new message of an agent.

        Raises:
            SessionException: there is one of this id.
        """
        key = build_message_key(session_id, agent_id, session_message.message_id)
        self._documents.create(key, session_message.to_dict())

    def read_message(
        self,
        session_id: str,
        agent_id: str,
        message_id: int,
        **kwargs: Any,
    ) -> SessionMessage | None:
        """Return a message; None if there is none.

        Raises:
            ValueError: raised when the id is no integer.
        """
        found = self._documents.read(build_message_key(session_id, agent_id, message_id))
        return None if found is None else SessionMessage.from_dict(found)

    def update_message(
        self,
        session_id: str,
        agent_id: str,
        session_message: SessionMessage,
        **kwargs: Any,
    ) -> None:
        """Replace a message, for example to redact it; its creation time stays.

        Raises:
            SessionException: there is no such message.
        """
        key = build_message_key(session_id, agent_id, session_message.message_id)
        session_message.created_at = self._documents.read_existing(key)["created_at"]
        self._documents.write(key, session_message.to_dict())

    def list_messages(
        self,
        session_id: str,
        agent_id: str,
        limit: int | None = None,
        offset: int = 0,
        **kwargs: Any,
    ) -> list[SessionMessage]:
        """Return messages by their ids, in order.

        Args:
            limit: the maximum number.
            offset: the number of messages to skip.
        """
        end = None if limit is None else offset + limit
        prefix = f"{build_agent_prefix(session_id, agent_id)}messages/"
        keys = self._documents.list_keys(prefix)[offset:end]
        return [SessionMessage.from_dict(each) for each in self._documents.read_many(keys)]

    def create_multi_agent(self, session_id: str, multi_agent: Any, **kwargs: Any) -> None:
        """Store the state of a graph or swarm."""
        self._documents.write(
            build_multi_agent_key(session_id, multi_agent.id), multi_agent.serialize_state()
        )

    def read_multi_agent(
        self,
        session_id: str,
        multi_agent_id: str,
        **kwargs: Any,
    ) -> Document | None:
        """Return the state of a graph or swarm; None if there is none."""
        return self._documents.read(build_multi_agent_key(session_id, multi_agent_id))

    def update_multi_agent(self, session_id: str, multi_agent: Any, **kwargs: Any) -> None:
        """Replace the state of a graph or swarm.

        Raises:
            SessionException: there is none.
        """
        state = multi_agent.serialize_state()
        key = build_multi_agent_key(session_id, multi_agent.id)
        self._documents.read_existing(key)
        self._documents.write(key, state)
