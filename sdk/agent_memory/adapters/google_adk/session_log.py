"""The stored form of ADK's sessions: events as objects, and a head that counts them."""

import json
import uuid
from collections.abc import Sequence
from typing import Any

from google.adk.errors._stale_session_error import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.platform import time as adk_time
from google.adk.sessions._session_util import extract_json_safe_state_delta
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.session import Session

from agent_memory.adapters.google_adk.documents import Document, Documents
from agent_memory.adapters.google_adk.places import Place
from agent_memory.adapters.google_adk.shared_states import (
    FIRST_CHANGE,
    SharedStates,
    mark,
    to_session,
)
from agent_memory.adapters.hashing import hash_id
from agent_memory.exceptions import MemoryConflictError

_READS = 20

_Sessions = list[Session]


class SessionLog:
    """The sessions of one space of objects.

    An event is stored as soon as its object is. The states that it changes and the head are written
    after it; after a crash in between, the next call completes them.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._states = SharedStates(documents)

    def get_user_state(self, place: Place) -> Document:
        """Return the state of a user, without the prefix `user:`."""
        found = self._documents.get(place.user_state)
        return {} if found is None else dict(found[0]["state"])

    def create(self, place: Place, state: dict[str, Any]) -> Session:
        """Create a session.

        Raises:
            AlreadyExistsError: the id exists.
        """
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
        self._states.share(place, head, FIRST_CHANGE, deltas)
        shared = self._documents.get_many([place.app_state, place.user_state])
        return to_session(place, head, shared, [])

    def get(self, place: Place, config: GetSessionConfig) -> Session | None:
        """Return a session with the wanted events; None if there is none."""
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
                return to_session(place, head, found, _cut(ordered, config.after_timestamp))
        raise MemoryConflictError("the session changes faster than it can be read; try again")

    def list(self, app: str, user: str | None) -> _Sessions:
        """Return the sessions of a user, or of all, without events, by their last update."""
        prefix = f"{hash_id(app)}/sessions/" if user is None else Place(app, user).sessions
        heads = self._documents.get_below(prefix)
        places = [Place(app, head["user"], head["id"]) for head in heads]
        keys = {place.user_state for place in places} | {place.app_state for place in places}
        shared = self._documents.get_many(sorted(keys))
        sessions = [
            to_session(place, head, shared, []) for place, head in zip(places, heads, strict=True)
        ]
        return sorted(sessions, key=lambda each: (each.last_update_time, each.user_id, each.id))

    def delete(self, place: Place) -> None:
        """Delete a session with its events, if there is one."""
        found = self._documents.get(place.head)
        if found is not None:
            self._documents.storage.delete([place.head])
            self._documents.storage.delete_all(place.build_events_prefix(found[0]["incarnation"]))

    def append(self, session: Session, event: Event) -> bool:
        """Append an event, one at a time in this process; return True if it is new.

        Raises:
            SessionNotFoundError: the session is deleted.
            StaleSessionError: the session has changed in storage since it was read.
        """
        place = Place(session.app_name, session.user_id, session.id)
        with self._documents.take_turn(place.head):
            return self._append(place, session, event)

    def _append(self, place: Place, session: Session, event: Event) -> bool:
        found = self._documents.get(place.head)
        if found is None:
            raise _not_found(place)
        head, version = found
        if _is_among(event, session.events):
            return False
        if not _is_current(session, head):
            return self._assert_redelivery(place, session, head, event)
        key, data = place.build_event_key(head["incarnation"], head["count"]), _render_event(event)
        try:
            self._documents.storage.put(key, data, only_new=True)
        except MemoryConflictError:
            stored = self._read_events(place, head, head["count"], head["count"] + 1)
            for other in stored.values():
                self._finish(place, head, version, other)
            raise _stale() from None
        head = self._finish(place, head, version, data)
        session.last_update_time = head["last_update_time"]
        session._storage_update_marker = mark(head)  # noqa: SLF001 - ADK's own place for it
        return True

    def _assert_redelivery(
        self, place: Place, session: Session, head: Document, event: Event
    ) -> bool:
        """Return False if the event is among the stored ones that the session does not have."""
        stored = self._read_events(place, head, len(session.events), head["count"])
        if _is_among(event, [_parse_event(data) for data in stored.values()]):
            return False
        raise _stale()

    def _read_events(self, place: Place, head: Document, start: int, end: int) -> dict[int, bytes]:
        """Return the existing events, by their numbers."""
        numbers = {place.build_event_key(head["incarnation"], at): at for at in range(start, end)}
        found = self._documents.storage.get_many(numbers)
        return {numbers[key]: data for key, data in found.items()}

    def _finish_for_another(self, place: Place, head: Document, data: bytes) -> None:
        """Apply the changes of an event whose writer has crashed, or not yet applied them."""
        found = self._documents.get(place.head)
        if found is not None and mark(found[0]) == mark(head):
            self._finish(place, *found, data)

    def _finish(self, place: Place, head: Document, version: int, data: bytes) -> Document:
        """Apply the changes of the event after the head's last one; return the new head.

        Raises:
            SessionNotFoundError: the session was deleted; then the event is deleted, too.
        """
        event = _parse_event(data)
        deltas = extract_json_safe_state_delta(event.actions.state_delta)
        self._states.share(place, head, head["count"], deltas)
        changed: Document = head | {
            "count": head["count"] + 1,
            "state": head["state"] | deltas["session"],
            "last_update_time": event.timestamp,
            "last_event_id": event.id,
        }
        if not self._documents.replace(place.head, changed, version):
            present = self._documents.get(place.head)
            if present is None or present[0]["incarnation"] != head["incarnation"]:
                self._documents.storage.delete(
                    [place.build_event_key(head["incarnation"], head["count"])]
                )
                raise _not_found(place)
        return changed  # or another process did the same


def _is_current(session: Session, head: Document) -> bool:
    """Tell whether a session is up to date: by its mark, or else by its last event."""
    if session._storage_update_marker is not None:  # noqa: SLF001 - ADK's own place for it
        return bool(session._storage_update_marker == mark(head))  # noqa: SLF001
    last = session.events[-1].id if session.events else None
    return bool(last == head["last_event_id"])


def _is_among(event: Event, events: Sequence[Event]) -> bool:
    return any(each.id == event.id and each == event for each in events)


def _not_found(place: Place) -> SessionNotFoundError:
    return SessionNotFoundError(f"Session {place.session} not found.")


def _stale() -> StaleSessionError:
    return StaleSessionError("The session was modified in storage since it was read; get it again.")


def _render_event(event: Event) -> bytes:
    return json.dumps(event.model_dump(mode="json", exclude_none=True)).encode()


def _parse_event(data: bytes) -> Event:
    event: Event = Event.model_validate_json(data)
    return event


def _cut(events: list[Event], after: float | None) -> list[Event]:
    """Remove the events before a time, except the last of them."""
    if after is None:
        return events
    older = [at for at, event in enumerate(events) if event.timestamp < after]
    return events[older[-1] + 1 :] if older else events
