"""Strands' sessions as objects of the service: one for each session, agent and message."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import PurePath
from typing import Any

from strands.session.repository_session_manager import RepositorySessionManager
from strands.session.session_repository import SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage

from agent_memory import AsyncClient, Client
from agent_memory.adapters.clients import to_sync
from agent_memory.adapters.object_storage import ObjectStorage, to_seconds
from agent_memory.exceptions import AgentMemoryError, MemoryConflictError

_PAGE = 1000

Document = dict[str, Any]


class AgentMemorySessionManager(RepositorySessionManager, SessionRepository):  # type: ignore[misc]
    """A session of Strands, with its agents, messages, graphs and swarms; manager and repository.

    A message is one object of up to 100 MB, images and documents included. Nothing that is there is
    created again: of two processes that go on with one session at the same time, one is told.
    Sessions are the principal's own. It may be used from any event loop and thread.

    Args:
        session_id: names the session; it holds no slash.
        client: calls as the principal; stays open.
        ttl: how long each object is kept, from its write: seconds, a timedelta, or an ISO 8601
            duration. None: until the session is deleted.
        sensitivity: `confidential` or `restricted` to store all encrypted.

    Raises:
        TypeError: raised when it is no client.
        ValueError: raised when the session's id holds a slash.
        SessionException: the session can't be read or created.
    """

    def __init__(
        self,
        session_id: str,
        client: Client | AsyncClient,
        ttl: float | str | timedelta | None = None,
        sensitivity: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._storage = ObjectStorage(
            to_sync(client), "strands-sessions", to_seconds(ttl), sensitivity
        )
        super().__init__(session_id=session_id, session_repository=self, **kwargs)

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        """Store a new session.

        Raises:
            SessionException: there is one of this id.
        """
        self._create(_session_key(session.session_id), session.to_dict())
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        """Return a session; None if there is none."""
        found = self._read(_session_key(session_id))
        return None if found is None else Session.from_dict(found)

    def delete_session(self, session_id: str, **kwargs: Any) -> None:
        """Delete a session with all that it has.

        Raises:
            SessionException: there is no such session.
        """
        if self._read(_session_key(session_id)) is None:
            raise SessionException(f"there is no session {session_id}")
        with _as_session_errors():
            self._storage.delete_all(_prefix(session_id))

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
        self._create(_agent_key(session_id, session_agent.agent_id), session_agent.to_dict())

    def read_agent(
        self,
        session_id: str,
        agent_id: str,
        **kwargs: Any,
    ) -> SessionAgent | None:
        """Return an agent; None if there is none."""
        found = self._read(_agent_key(session_id, agent_id))
        return None if found is None else SessionAgent.from_dict(found)

    def update_agent(
        self,
        session_id: str,
        session_agent: SessionAgent,
        **kwargs: Any,
    ) -> None:
        """Replace an agent; when it was created stays.

        Raises:
            SessionException: there is no such agent.
        """
        key = _agent_key(session_id, session_agent.agent_id)
        session_agent.created_at = self._read_existing(key)["created_at"]
        self._write(key, session_agent.to_dict())

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
        key = _message_key(session_id, agent_id, session_message.message_id)
        self._create(key, session_message.to_dict())

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
        found = self._read(_message_key(session_id, agent_id, message_id))
        return None if found is None else SessionMessage.from_dict(found)

    def update_message(
        self,
        session_id: str,
        agent_id: str,
        session_message: SessionMessage,
        **kwargs: Any,
    ) -> None:
        """Replace a message, such as to redact it; when it was created stays.

        Raises:
            SessionException: there is no such message.
        """
        key = _message_key(session_id, agent_id, session_message.message_id)
        session_message.created_at = self._read_existing(key)["created_at"]
        self._write(key, session_message.to_dict())

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
            limit: how many at most.
            offset: how many of the first are left out.
        """
        end = None if limit is None else offset + limit
        prefix = f"{_agent_prefix(session_id, agent_id)}messages/"
        with _as_session_errors():
            keys = [*self._storage.list_keys(prefix, _PAGE)][offset:end]
            found = self._storage.get_many(keys)
        return [SessionMessage.from_dict(json.loads(found[key])) for key in keys if key in found]

    def create_multi_agent(self, session_id: str, multi_agent: Any, **kwargs: Any) -> None:
        """Store the state of a graph or swarm."""
        self._write(_multi_agent_key(session_id, multi_agent.id), multi_agent.serialize_state())

    def read_multi_agent(
        self,
        session_id: str,
        multi_agent_id: str,
        **kwargs: Any,
    ) -> Document | None:
        """Return the state of a graph or swarm; None if there is none."""
        return self._read(_multi_agent_key(session_id, multi_agent_id))

    def update_multi_agent(self, session_id: str, multi_agent: Any, **kwargs: Any) -> None:
        """Replace the state of a graph or swarm.

        Raises:
            SessionException: there is none.
        """
        state = multi_agent.serialize_state()
        key = _multi_agent_key(session_id, multi_agent.id)
        self._read_existing(key)
        self._write(key, state)

    def _create(self, key: str, document: Document) -> None:
        try:
            self._write(key, document, only_new=True)
        except SessionException as refused:
            if isinstance(refused.__cause__, MemoryConflictError):
                raise SessionException(f"{key} is there already") from refused
            raise

    def _write(self, key: str, document: Document, **precondition: Any) -> None:
        data = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
        with _as_session_errors():
            self._storage.put(key, data, **precondition)

    def _read(self, key: str) -> Document | None:
        with _as_session_errors():
            found = self._storage.get(key)
        document: Document | None = None if found is None else json.loads(found.data)
        return document

    def _read_existing(self, key: str) -> Document:
        found = self._read(key)
        if found is None:
            raise SessionException(f"there is no {key}")
        return found


@contextmanager
def _as_session_errors() -> Iterator[None]:
    try:
        yield
    except AgentMemoryError as refused:
        raise SessionException(str(refused)) from refused


def _prefix(session_id: str) -> str:
    return f"{_segment('session', session_id)}/"


def _session_key(session_id: str) -> str:
    return f"{_prefix(session_id)}session"


def _agent_prefix(session_id: str, agent_id: str) -> str:
    return f"{_prefix(session_id)}agents/{_segment('agent', agent_id)}/"


def _agent_key(session_id: str, agent_id: str) -> str:
    return f"{_agent_prefix(session_id, agent_id)}agent"


def _message_key(session_id: str, agent_id: str, message_id: int) -> str:
    if not isinstance(message_id, int):
        raise ValueError(f"a message's id is an integer, not {message_id!r}")
    return f"{_agent_prefix(session_id, agent_id)}messages/{message_id:020d}"


def _multi_agent_key(session_id: str, multi_agent_id: str) -> str:
    return f"{_prefix(session_id)}multi_agents/{_segment('agent', multi_agent_id)}"


def _segment(kind: str, id: str) -> str:
    if PurePath(id).name != id:
        raise ValueError(f"{kind}_id={id} | id cannot contain path separators")
    return id
