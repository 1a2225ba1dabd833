"""The documents of Strands' sessions, as objects of the service, and their keys."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from strands.types.exceptions import SessionException

from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.exceptions import AgentMemoryError, MemoryConflictError

_PAGE = 1000

Document = dict[str, Any]


class SessionDocuments:
    """JSON documents by key.

    Raises:
        SessionException: raised by all methods when the service rejects a call.
    """

    def __init__(self, storage: ObjectStorage) -> None:
        self._storage = storage

    def create(self, key: str, document: Document) -> None:
        """Store a new document.

        Raises:
            SessionException: the key exists.
        """
        try:
            self.write(key, document, only_new=True)
        except SessionException as refused:
            if isinstance(refused.__cause__, MemoryConflictError):
                raise SessionException(f"{key} is there already") from refused
            raise

    def write(self, key: str, document: Document, **precondition: Any) -> None:
        """Create or replace a document."""
        data = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
        with _as_session_errors():
            self._storage.put(key, data, **precondition)

    def read(self, key: str) -> Document | None:
        """Return a document; None if there is none."""
        with _as_session_errors():
            found = self._storage.get(key)
        document: Document | None = None if found is None else json.loads(found.data)
        return document

    def read_existing(self, key: str) -> Document:
        """Return a document.

        Raises:
            SessionException: there is none.
        """
        found = self.read(key)
        if found is None:
            raise SessionException(f"there is no {key}")
        return found

    def list_keys(self, prefix: str) -> list[str]:
        """List the keys with a prefix."""
        with _as_session_errors():
            return [*self._storage.list_keys(prefix, _PAGE)]

    def read_many(self, keys: list[str]) -> list[Document]:
        """Return the existing documents, in the order of their keys."""
        with _as_session_errors():
            found = self._storage.get_many(keys)
        return [json.loads(found[key]) for key in keys if key in found]

    def delete_all(self, prefix: str) -> None:
        """Delete all documents with a prefix."""
        with _as_session_errors():
            self._storage.delete_all(prefix)


@contextmanager
def _as_session_errors() -> Iterator[None]:
    """Raise the service's errors as Strands' exceptions."""
    try:
        yield
    except AgentMemoryError as refused:
        raise SessionException(str(refused)) from refused


def build_session_prefix(session_id: str) -> str:
    """Build the prefix of all keys of a session.

    Raises:
        ValueError: raised when an id has a path separator, as for all keys.
    """
    return f"{_segment('session', session_id)}/"


def build_session_key(session_id: str) -> str:
    """Build the key of a session."""
    return f"{build_session_prefix(session_id)}session"


def build_agent_prefix(session_id: str, agent_id: str) -> str:
    """Build the prefix of all keys of an agent's messages."""
    return f"{build_session_prefix(session_id)}agents/{_segment('agent', agent_id)}/"


def build_agent_key(session_id: str, agent_id: str) -> str:
    """Build the key of an agent."""
    return f"{build_agent_prefix(session_id, agent_id)}agent"


def build_message_key(session_id: str, agent_id: str, message_id: int) -> str:
    """Build the key of a message; keys are in the order of ids.

    Raises:
        ValueError: raised when the id is no integer.
    """
    if not isinstance(message_id, int):
        raise ValueError(f"a message's id must be an integer, not {message_id!r}")
    return f"{build_agent_prefix(session_id, agent_id)}messages/{message_id:020d}"


def build_multi_agent_key(session_id: str, multi_agent_id: str) -> str:
    """Build the key of the state of a graph or swarm."""
    return f"{build_session_prefix(session_id)}multi_agents/{_segment('agent', multi_agent_id)}"


def _segment(kind: str, id: str) -> str:
    if PurePath(id).name != id:
        raise ValueError(f"{kind}_id={id} | id cannot contain path separators")
    return id
