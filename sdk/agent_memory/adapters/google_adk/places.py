"""The keys of the parts of ADK's sessions."""

from typing import NamedTuple

from agent_memory.adapters.hashing import hash_id


class Place(NamedTuple):
    """The app, user and id of a session."""

    app: str
    user: str
    session: str = ""

    @property
    def sessions(self) -> str:
        """The prefix of the keys of the heads of a user's sessions."""
        return f"{hash_id(self.app)}/sessions/{hash_id(self.user)}/"

    @property
    def head(self) -> str:
        """The key of the session's head."""
        return self.sessions + hash_id(self.session)

    @property
    def app_state(self) -> str:
        """The key of the app's state."""
        return f"{hash_id(self.app)}/state"

    @property
    def user_state(self) -> str:
        """The key of the user's state."""
        return f"{hash_id(self.app)}/users/{hash_id(self.user)}"

    def build_events_prefix(self, incarnation: str) -> str:
        """Build the prefix of the keys of a session's events."""
        return f"{hash_id(self.app)}/events/{incarnation}/"

    def build_event_key(self, incarnation: str, number: int) -> str:
        """Build the key of an event."""
        return f"{self.build_events_prefix(incarnation)}{number:010d}"
