"""Shared parts of the tests of Google's ADK."""

import asyncio
import itertools
from typing import Any

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.genai import types

IMAGE = bytes(range(256)) * 20_000  # 5 MB
WHERE: dict[str, Any] = {"app_name": "app", "user_id": "ada"}
HERE: dict[str, Any] = WHERE | {"session_id": "s"}
_serial = itertools.count(1)


def wait(coroutine: Any) -> Any:
    return asyncio.run(coroutine)


def say(text: str = "", *, at: float | None = None, **delta: Any) -> Event:
    """An event that says something and changes the state; `user__tea` stands for `user:tea`."""
    content = types.Content(role="user", parts=[types.Part(text=text)]) if text else None
    changes = {name.replace("__", ":"): value for name, value in delta.items()}
    timestamp = {} if at is None else {"timestamp": at}
    return Event(
        author="user",
        invocation_id=f"i{next(_serial)}",
        content=content,
        actions=EventActions(state_delta=changes),
        **timestamp,
    )
