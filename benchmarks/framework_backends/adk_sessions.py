"""Google's ADK: sessions in memory, in SQLite and in the service."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_memory.adapters.google_adk import AgentMemorySessionService
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from benchmarks.framework_backends.measuring import Figures, agent_client, make_folder, measure


class _Sessions:
    def __init__(self, name: str, service: Any) -> None:
        self._where = {"app_name": "app", "user_id": name}
        self._service = service
        self._live = self._wait(service.create_session(**self._where, session_id="s"))

    def _wait(self, coroutine: Any) -> Any:
        return asyncio.run(coroutine)

    def append(self, number: int, text: str) -> object:
        content = types.Content(role="user", parts=[types.Part(text=text)])
        event = Event(author="user", invocation_id=str(number), content=content)
        return self._wait(self._service.append_event(self._live, event))

    def read(self) -> int:
        return len(self._wait(self._service.get_session(**self._where, session_id="s")).events)

    def change_at_once(self, writer: int) -> bool:
        """Each has a session of the same user, and changes the user's state."""
        session = self._wait(self._service.create_session(**self._where, session_id=f"w{writer}"))
        delta = {f"user:k{writer}": writer}
        event = Event(author="user", actions=EventActions(state_delta=delta))
        try:
            self._wait(self._service.append_event(session, event))
        except Exception:  # noqa: BLE001 - each service has errors of its own
            return False
        return True

    def count_changes(self) -> int:
        found = self._wait(self._service.get_session(**self._where, session_id="s"))
        return len([name for name in found.state if name.startswith("user:k")])


def run(folder: Path, _s3: str) -> Iterator[Figures]:
    """Measure all."""
    files = make_folder(folder, "adk")
    in_memory, in_sqlite = InMemorySessionService(), SqliteSessionService(str(files / "adk.db"))
    yield measure("InMemorySessionService", lambda user: _Sessions(user, in_memory))
    yield measure("SqliteSessionService", lambda user: _Sessions(user, in_sqlite))
    with agent_client() as (client, requests):
        ours = AgentMemorySessionService(client)
        yield measure("AgentMemorySessionService", lambda user: _Sessions(user, ours), requests)
