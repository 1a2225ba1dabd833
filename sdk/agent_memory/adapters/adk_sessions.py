"""ADK's sessions: events as objects, and a head that tells how many there are."""

import asyncio
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from google.adk.errors._stale_session_error import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.platform import time as adk_time
from google.adk.sessions._session_util import extract_json_safe_state_delta
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.session import Session
from google.adk.sessions.state import State

from agent_memory import AsyncClient, Client
from agent_memory.adapters.adk_store import Document, Documents
from agent_memory.adapters.hashing import hash_id
from agent_memory.exceptions import MemoryConflictError

_REMEMBERED = 100  # sessions whose last change a shared state knows
_READS = 20
_FIRST = -1  # the number of the change that creates a session


class _Place(NamedTuple):
    """Whose session it is."""

    app: str
    user: str
    session: str = ""

    @property
    def sessions(self) -> str:
        return f"{hash_id(self.app)}/sessions/{hash_id(self.user)}/"

    @property
    def head(self) -> str:
        return self.sessions + hash_id(self.session)

    @property
    def app_state(self) -> str:
        return f"{hash_id(self.app)}/state"

    @property
    def user_state(self) -> str:
        return f"{hash_id(self.app)}/users/{hash_id(self.user)}"


class AgentMemorySessionService(BaseSessionService):  # type: ignore[misc]
    """ADK's sessions, with state for the session, the user and the app.

    An event is one object of up to 100 MB, with which it is there; a crash before the states
    are changed is made good by whoever comes next. Who appends to a session that another one has
    changed since it was read gets a `StaleSessionError`; appends to one live session go one after
    another. The same event again does nothing. Sessions are the principal's own. It may be used
    from any event loop.

    Args:
        client: calls as the principal; stays open.
        root: what the name of the space of objects begins with: another root, other sessions.
        sensitivity: `confidential` or `restricted` to store all encrypted.

    Raises:
        TypeError: raised when it is no client.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        *,
        root: str = "adk-sessions",
        sensitivity: str | None = None,
    ) -> None:
        self._documents = Documents(client, root, sensitivity)
        self._locks: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self._guard = Lock()

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
            AlreadyExistsError: there is one of this id.
        """
        id = (session_id or "").strip() or str(uuid.uuid4())
        place = _Place(app_name, user_id, id)
        return await asyncio.to_thread(self._create, place, state or {})

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Return a session with its events, or some of them; None if there is none."""
        place = _Place(app_name, user_id, session_id.strip())
        return await asyncio.to_thread(self._get, place, config or GetSessionConfig())

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Return the sessions of a user, or of all, with state and without events, oldest first."""
        sessions = await asyncio.to_thread(self._list, app_name, user_id)
        return ListSessionsResponse(sessions=sessions)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session with its events, if there is one; states of user and app stay."""
        await asyncio.to_thread(self._delete, _Place(app_name, user_id, session_id.strip()))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the state of a user, without the prefix `user:`."""
        place = _Place(app_name, user_id)
        found = await asyncio.to_thread(self._documents.get, place.user_state)
        return {} if found is None else dict(found[0]["state"])

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event and what it changes of the states, and add it to the session.

        Raises:
            SessionNotFoundError: the session is deleted.
            StaleSessionError: the session has changed in storage since it was read.
        """
        if event.partial:
            return event
        self._apply_temp_state(session, event)
        event = self._trim_temp_delta_state(event)
        if await asyncio.to_thread(self._append_in_turn, session, event):
            self._commit_event_to_session(session, event)
        return event

    def _create(self, place: _Place, state: dict[str, Any]) -> Session:
        deltas = extract_json_safe_state_delta(state)
        head: Document = {
            "id": place.session,
            "user": place.user,
            "incarnation": uuid.uuid4().hex,
            "count": 0,
            "state": deltas["session"],
            "last_update_time": adk_time.get_time(),
            "last_event_id": None,
        }
        if not self._documents.add(place.head, head):
            raise AlreadyExistsError(f"Session with id {place.session} already exists.")
        self._share(place, head, _FIRST, deltas)
        shared = self._documents.get_many([place.app_state, place.user_state])
        return _to_session(place, head, shared, [])

    def _get(self, place: _Place, config: GetSessionConfig) -> Session | None:
        for _ in range(_READS):
            keys = [place.head, place.app_state, place.user_state]
            found = self._documents.get_many(keys)
            head = found.get(place.head)
            if head is None:
                return None
            count, recent = head["count"], config.num_recent_events
            start = 0 if recent is None else max(0, count - recent)
            events = self._read_events(place, head, start, count + 1)
            if count in events:
                self._finish_for_another(place, head, events[count])
            elif len(events) == count - start:
                ordered = [_parse_event(events[at]) for at in range(start, count)]
                return _to_session(place, head, found, _cut(ordered, config.after_timestamp))
        raise MemoryConflictError("the session is written faster than it can be read")

    def _list(self, app: str, user: str | None) -> list[Session]:
        prefix = f"{hash_id(app)}/sessions/" if user is None else _Place(app, user).sessions
        heads = self._documents.get_below(prefix)
        places = [_Place(app, head["user"], head["id"]) for head in heads]
        keys = {place.user_state for place in places} | {place.app_state for place in places}
        shared = self._documents.get_many(sorted(keys))
        sessions = [
            _to_session(place, head, shared, []) for place, head in zip(places, heads, strict=True)
        ]
        return sorted(sessions, key=lambda each: (each.last_update_time, each.user_id, each.id))

    def _delete(self, place: _Place) -> None:
        found = self._documents.get(place.head)
        if found is not None:
            self._documents.storage.delete([place.head])
            self._documents.storage.delete_all(_events_prefix(place, found[0]))

    def _append_in_turn(self, session: Session, event: Event) -> bool:
        """Append when nobody else of this process does; whether it wasn't there before."""
        place = _Place(session.app_name, session.user_id, session.id)
        with self._guard:
            lock = self._locks.setdefault(place.head, Lock())
        with lock:
            return self._append(place, session, event)

    def _append(self, place: _Place, session: Session, event: Event) -> bool:
        found = self._documents.get(place.head)
        if found is None:
            raise _not_found(place)
        head, version = found
        if _is_among(event, session.events):
            return False
        if not _is_current(session, head):
            return self._assert_redelivery(place, session, head, event)
        key, data = _event_key(place, head, head["count"]), _render_event(event)
        try:
            self._documents.storage.put(key, data, only_new=True)
        except MemoryConflictError:
            stored = self._read_events(place, head, head["count"], head["count"] + 1)
            for other in stored.values():
                self._finish(place, head, version, other)
            raise _stale() from None
        head = self._finish(place, head, version, data)
        session.last_update_time = head["last_update_time"]
        session._storage_update_marker = _mark(head)  # noqa: SLF001 - ADK's own place for it
        return True

    def _assert_redelivery(
        self, place: _Place, session: Session, head: Document, event: Event
    ) -> bool:
        """Return False if the event is stored among those that the session doesn't know."""
        stored = self._read_events(place, head, len(session.events), head["count"])
        if _is_among(event, [_parse_event(data) for data in stored.values()]):
            return False
        raise _stale()

    def _read_events(self, place: _Place, head: Document, start: int, end: int) -> dict[int, bytes]:
        """Return those events that there are, by their numbers."""
        numbers = {_event_key(place, head, at): at for at in range(start, end)}
        found = self._documents.storage.get_many(numbers)
        return {numbers[key]: data for key, data in found.items()}

    def _finish_for_another(self, place: _Place, head: Document, data: bytes) -> None:
        """Carry out what an event changes whose writer crashed, or hasn't come to it."""
        found = self._documents.get(place.head)
        if found is not None and _mark(found[0]) == _mark(head):
            self._finish(place, *found, data)

    def _finish(self, place: _Place, head: Document, version: int, data: bytes) -> Document:
        """Carry out what the event after the head's last one changes; return the new head.

        Raises:
            SessionNotFoundError: the session is deleted; then so is the event.
        """
        event = _parse_event(data)
        deltas = extract_json_safe_state_delta(event.actions.state_delta)
        self._share(place, head, head["count"], deltas)
        changed: Document = head | {
            "count": head["count"] + 1,
            "state": head["state"] | deltas["session"],
            "last_update_time": event.timestamp,
            "last_event_id": event.id,
        }
        if not self._documents.replace(place.head, changed, version):
            present = self._documents.get(place.head)
            if present is None or present[0]["incarnation"] != head["incarnation"]:
                self._documents.storage.delete([_event_key(place, head, head["count"])])
                raise _not_found(place)
        return changed  # or somebody else did the same

    def _share(self, place: _Place, head: Document, number: int, deltas: Document) -> None:
        """Change the states of user and app, once for each change of a session."""
        for key, delta in ((place.app_state, deltas["app"]), (place.user_state, deltas["user"])):
            if delta:
                self._documents.update(key, _Change(head["incarnation"], number, delta))


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of a shared state by an event of a session."""

    incarnation: str
    number: int
    delta: Document

    def __call__(self, document: Document) -> Document | None:
        """Return the changed document; None if the change is in it already."""
        applied = dict(document.get("applied", {}))
        if applied.pop(self.incarnation, _FIRST - 1) >= self.number:
            return None
        kept = list(applied.items())[1 - _REMEMBERED :]
        return {
            "state": document.get("state", {}) | self.delta,
            "applied": dict([*kept, (self.incarnation, self.number)]),
        }


def _to_session(
    place: _Place, head: Document, shared: dict[str, Document], events: list[Event]
) -> Session:
    state = dict(head["state"])
    for prefix, key in ((State.APP_PREFIX, place.app_state), (State.USER_PREFIX, place.user_state)):
        values = shared.get(key, {}).get("state", {})
        state |= {prefix + name: value for name, value in values.items()}
    session = Session(
        id=place.session,
        app_name=place.app,
        user_id=place.user,
        state=state,
        events=events,
        last_update_time=head["last_update_time"],
    )
    session._storage_update_marker = _mark(head)  # noqa: SLF001 - ADK's own place for it
    return session


def _mark(head: Document) -> str:
    return f"{head['incarnation']}:{head['count']}"


def _is_current(session: Session, head: Document) -> bool:
    """Tell whether a session has all that is stored: by its mark, or else by its last event."""
    if session._storage_update_marker is not None:  # noqa: SLF001 - ADK's own place for it
        return bool(session._storage_update_marker == _mark(head))  # noqa: SLF001
    last = session.events[-1].id if session.events else None
    return bool(last == head["last_event_id"])


def _is_among(event: Event, events: Sequence[Event]) -> bool:
    return any(each.id == event.id and each == event for each in events)


def _not_found(place: _Place) -> SessionNotFoundError:
    return SessionNotFoundError(f"Session {place.session} not found.")


def _stale() -> StaleSessionError:
    return StaleSessionError("The session was modified in storage since it was read; get it again.")


def _events_prefix(place: _Place, head: Document) -> str:
    return f"{hash_id(place.app)}/events/{head['incarnation']}/"


def _event_key(place: _Place, head: Document, number: int) -> str:
    return f"{_events_prefix(place, head)}{number:010d}"


def _render_event(event: Event) -> bytes:
    return json.dumps(event.model_dump(mode="json", exclude_none=True)).encode()


def _parse_event(data: bytes) -> Event:
    event: Event = Event.model_validate_json(data)
    return event


def _cut(events: list[Event], after: float | None) -> list[Event]:
    """Leave out all until the last one that is before a time."""
    if after is None:
        return events
    older = [at for at, event in enumerate(events) if event.timestamp < after]
    return events[older[-1] + 1 :] if older else events
