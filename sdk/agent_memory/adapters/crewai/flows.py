"""The states of CrewAI's flows, as objects of the service."""

import json
from datetime import timedelta
from typing import Any

from crewai.flow.async_feedback.types import PendingFeedbackContext
from crewai.flow.persistence.base import FlowPersistence
from pydantic import BaseModel, PrivateAttr

from agent_memory import AsyncClient, Client
from agent_memory.adapters.hashing import hash_id
from agent_memory.adapters.object_storage import ObjectStorage
from agent_memory.conversion import to_sync
from agent_memory.model import Sensitivity

_STATES, _PENDING = "states", "pending"

Document = dict[str, Any]


class AgentMemoryFlowPersistence(FlowPersistence):  # type: ignore[misc]
    """The latest state of each flow, and its pending feedback, as objects.

    A state is JSON, at most of an object's size. States belong to the principal; any thread may
    save and load. The API key is never a part of the model: a dump has only the address.

    Args:
        url: the address of the service; by default `AGENT_MEMORY_URL`, else http://127.0.0.1:8080.
        client: calls as the principal, and stays open; by default a client of `url` with the key in
            `AGENT_MEMORY_API_KEY`.
        root: the prefix of the name of the space of objects.
        ttl: the lifetime of a state after it was saved: seconds, a timedelta, or an ISO 8601
            duration.
        sensitivity: `confidential` or `restricted` to store states encrypted.

    Raises:
        ValueError: raised when there is no key.
        TypeError: raised when the client is no client of this package.
    """

    persistence_type: str = "AgentMemoryFlowPersistence"
    url: str | None = None
    root: str = "crewai"
    ttl: str | float | timedelta | None = None
    sensitivity: Sensitivity | None = None
    _storage: ObjectStorage = PrivateAttr()

    def __init__(
        self,
        url: str | None = None,
        /,
        *,
        client: Client | AsyncClient | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(**({} if url is None else {"url": url}), **fields)
        opened = Client(self.url) if client is None else to_sync(client)
        self._storage = ObjectStorage(opened, self.root, self.ttl, self.sensitivity)

    def init_db(self) -> None:
        """Do nothing: the first state creates the space."""

    def save_state(
        self, flow_uuid: str, method_name: str, state_data: Document | BaseModel
    ) -> None:
        """Store the state of a flow, and replace the earlier one.

        Raises:
            ValueError: the state is neither a dict nor a model.
            AgentMemoryError: it was not stored.
        """
        document = {"method": method_name, "state": _to_dict(state_data)}
        self._storage.put(_build_key(_STATES, flow_uuid), _render(document))

    def load_state(self, flow_uuid: str) -> Document | None:
        """Return the latest state of a flow; None if it has none."""
        found = self._load(_STATES, flow_uuid)
        return None if found is None else found["state"]

    def save_pending_feedback(
        self, flow_uuid: str, context: PendingFeedbackContext, state_data: Document | BaseModel
    ) -> None:
        """Store the feedback that a flow waits for, and its state."""
        state = _to_dict(state_data)
        document = {"context": context.to_dict(), "state": state}
        self._storage.put(_build_key(_PENDING, flow_uuid), _render(document))
        self.save_state(flow_uuid, context.method_name, state)

    def load_pending_feedback(
        self, flow_uuid: str
    ) -> tuple[Document, PendingFeedbackContext] | None:
        """Return the state of a flow that waits, and what it waits for; None if it doesn't."""
        found = self._load(_PENDING, flow_uuid)
        if found is None:
            return None
        return found["state"], PendingFeedbackContext.from_dict(found["context"])

    def clear_pending_feedback(self, flow_uuid: str) -> None:
        """Delete the pending feedback of a flow."""
        self._storage.delete([_build_key(_PENDING, flow_uuid)])

    def _load(self, kind: str, flow_uuid: str) -> Document | None:
        found = self._storage.get(_build_key(kind, flow_uuid))
        document: Document | None = None if found is None else json.loads(found.data)
        return document


def _build_key(kind: str, flow_uuid: str) -> str:
    return f"{kind}/{hash_id(flow_uuid)}"


def _to_dict(state: Document | BaseModel) -> Document:
    if isinstance(state, BaseModel):
        return state.model_dump(mode="json")
    if isinstance(state, dict):
        return state
    raise ValueError(f"a state must be a dict or a model, not {type(state).__name__}")


def _render(document: Document) -> bytes:
    return json.dumps(document, default=_to_json).encode()


def _to_json(value: Any) -> Any:
    """Convert values without a JSON form, as CrewAI does."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
