"""Strands: sessions of an agent, in files, in S3 and in the service."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
from agent_memory.adapters.strands import AgentMemorySessionManager
from strands.session.file_session_manager import FileSessionManager
from strands.session.s3_session_manager import S3SessionManager
from strands.types.exceptions import SessionException
from strands.types.session import SessionAgent, SessionMessage

from benchmarks.framework_backends.measuring import Figures, agent_client, make_folder, measure


class _Sessions:
    def __init__(self, session: str, open_session: Callable[[str], Any]) -> None:
        self._session, self._open = session, open_session
        self._manager = open_session(session)
        self._manager.create_agent(session, SessionAgent("a", {}, {}))
        self._others = [open_session(session) for _ in range(8)]

    def append(self, number: int, text: str) -> object:
        message = SessionMessage({"role": "user", "content": [{"text": text}]}, number)
        return self._manager.create_message(self._session, "a", message)

    def read(self) -> int:
        return len(self._open(self._session).list_messages(self._session, "a"))

    def change_at_once(self, writer: int) -> bool:
        """All add the next message of the session, which has one number."""
        message = SessionMessage({"role": "user", "content": [{"text": str(writer)}]}, 0)
        try:
            self._others[writer].create_message(self._session, "a", message)
        except SessionException:
            return False
        return True

    def count_changes(self) -> int:
        return self.read()


def run(folder: Path, s3: str) -> Iterator[Figures]:
    """Measure all; `s3` is the address of a simulated S3."""
    files = make_folder(folder, "strands")
    yield measure(
        "FileSessionManager",
        lambda name: _Sessions(name, lambda id: FileSessionManager(id, storage_dir=str(files))),
    )
    session = boto3.Session("test", "test", region_name="us-east-1")
    session.client("s3", endpoint_url=s3).create_bucket(Bucket="strands")

    calls: list[object] = []
    session.events.register("before-send.s3", lambda **sent: calls.append(sent["event_name"]))

    def open_in_s3(id: str) -> Any:
        return S3SessionManager(id, "strands", boto_session=session, endpoint_url=s3)

    yield measure("S3SessionManager", lambda name: _Sessions(name, open_in_s3), lambda: len(calls))
    with agent_client() as (client, requests):
        yield measure(
            "AgentMemorySessionManager",
            lambda name: _Sessions(name, lambda id: AgentMemorySessionManager(id, client)),
            requests,
        )
