"""The states of users and apps, which ADK's sessions share."""

from dataclasses import dataclass

from google.adk.events.event import Event
from google.adk.sessions.session import Session
from google.adk.sessions.state import State

from agent_memory.adapters.google_adk.documents import Document, Documents
from agent_memory.adapters.google_adk.places import Place

_REMEMBERED = 100  # sessions whose last change a shared state knows
FIRST_CHANGE = -1  # the number of the change that creates a session


class SharedStates:
    """The states of users and apps."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def share(self, place: Place, head: Document, number: int, deltas: Document) -> None:
        """Change the states of user and app, once for each change of a session."""
        for key, delta in ((place.app_state, deltas["app"]), (place.user_state, deltas["user"])):
            if delta:
                self._documents.update(key, StateChange(head["incarnation"], number, delta))


@dataclass(frozen=True, slots=True)
class StateChange:
    """A change of a shared state by an event of a session."""

    incarnation: str
    number: int
    delta: Document

    def __call__(self, document: Document) -> Document | None:
        """Return the changed document; None if it already has the change."""
        applied = dict(document.get("applied", {}))
        if applied.pop(self.incarnation, FIRST_CHANGE - 1) >= self.number:
            return None
        kept = list(applied.items())[1 - _REMEMBERED :]
        return {
            "state": document.get("state", {}) | self.delta,
            "applied": dict([*kept, (self.incarnation, self.number)]),
        }


def to_session(
    place: Place, head: Document, shared: dict[str, Document], events: list[Event]
) -> Session:
    """Return a session in ADK's form, with its shared states."""
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
    session._storage_update_marker = mark(head)  # noqa: SLF001 - ADK's own place for it
    return session


def mark(head: Document) -> str:
    """Return the mark that shows whether a session is up to date."""
    return f"{head['incarnation']}:{head['count']}"
