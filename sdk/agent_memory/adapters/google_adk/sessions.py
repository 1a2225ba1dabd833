"""ADK's session service."""

import asyncio
import uuid
from typing import Any

from google.adk.events.event import Event
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.session import Session

from agent_memory.adapters.google_adk.documents import DocumentService
from agent_memory.adapters.google_adk.places import Place
from agent_memory.adapters.google_adk.session_log import SessionLog


class AgentMemorySessionService(DocumentService, BaseSessionService):  # type: ignore[misc]
    """ADK's sessions, with state for the session, the user and the app.

    An event is stored as soon as its object is. After a crash before the states are changed, the
    next call completes them. Appending to a session that another process has changed since it was
    read raises `StaleSessionError`; appends to one live session wait for each other. Appending an
    event again does nothing. Sessions belong to the principal. Any event loop may use it.

    Args:
        client: calls as the principal; stays open.
        root: the prefix of the name of the space of objects; each root has its own sessions.
        sensitivity: `confidential` or `restricted` to store all encrypted.

    Raises:
        TypeError: raised when it is no client.
    """

    _root = "adk-sessions"

    @property
    def _log(self) -> SessionLog:
        return SessionLog(self._documents)

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session; without an id it gets one.

        Raises:
            AlreadyExistsError: the id exists.
        """
        id = (session_id or "").strip() or str(uuid.uuid4())
        place = Place(app_name, user_id, id)
        return await asyncio.to_thread(self._log.create, place, state or {})

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Return a session with its events, or some of them; None if there is none."""
        place = Place(app_name, user_id, session_id.strip())
        return await asyncio.to_thread(self._log.get, place, config or GetSessionConfig())

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Return the sessions of a user, or of all, with state and without events, oldest first."""
        sessions = await asyncio.to_thread(self._log.list, app_name, user_id)
        return ListSessionsResponse(sessions=sessions)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session with its events, if there is one; states of user and app stay."""
        await asyncio.to_thread(self._log.delete, Place(app_name, user_id, session_id.strip()))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the state of a user, without the prefix `user:`."""
        place = Place(app_name, user_id)
        return await asyncio.to_thread(self._log.get_user_state, place)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event and its changes of the states, and add it to the session.

        Raises:
            SessionNotFoundError: the session is deleted.
            StaleSessionError: the session has changed in storage since it was read.
        """
        if event.partial:
            return event
        self._apply_temp_state(session, event)
        event = self._trim_temp_delta_state(event)
        if await asyncio.to_thread(self._log.append, session, event):
            self._commit_event_to_session(session, event)
        return event
