"""Pydantic AI: conversations in memory and in the service."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_memory.adapters.pydantic_ai import AgentMemoryConversationStore
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict, InMemoryConversationStore
from pydantic_ai.messages import ModelRequest

from benchmarks.framework_backends.measuring import Figures, agent_client, measure


class _Conversations:
    def __init__(self, name: str, store: Any) -> None:
        self._name, self._store = name, store
        self._live = Conversation(conversation_id=name)
        self._wait(store.save(self._live))
        self._others = [self._wait(store.load(name)) for _ in range(8)]

    def _wait(self, coroutine: Any) -> Any:
        return asyncio.run(coroutine)

    def append(self, number: int, text: str) -> object:
        self._live.messages.append(ModelRequest.user_text_prompt(f"{number} {text}"))
        return self._wait(self._store.save(self._live))

    def read(self) -> int:
        return len(self._wait(self._store.load(self._name)).messages)

    def change_at_once(self, writer: int) -> bool:
        """Each adds a message to the conversation as it was at first."""
        conversation = self._others[writer]
        conversation.messages.append(ModelRequest.user_text_prompt(str(writer)))
        try:
            self._wait(self._store.save(conversation))
        except ConversationConflict:
            return False
        return True

    def count_changes(self) -> int:
        return self.read()


def run(_folder: Path, _s3: str) -> Iterator[Figures]:
    """Measure all."""
    store = InMemoryConversationStore()
    yield measure("InMemoryConversationStore", lambda name: _Conversations(name, store))
    with agent_client() as (client, requests):
        ours = AgentMemoryConversationStore(client)
        yield measure(
            "AgentMemoryConversationStore",
            lambda name: _Conversations(name, ours),
            requests,
        )
