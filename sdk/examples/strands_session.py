"""A Strands agent with a stored conversation.

    python strands_session.py "My name is Ada."
    python strands_session.py "I like tea."

The environment has AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY. The model here needs no network;
replace it by one of Strands' models.
"""

import sys
from collections.abc import AsyncGenerator
from typing import Any, TypeVar

from agent_memory import Client
from agent_memory.adapters.strands import AgentMemorySessionManager
from pydantic import BaseModel
from strands import Agent
from strands.models import Model
from strands.types.content import Messages
from strands.types.streaming import StreamEvent

T = TypeVar("T", bound=BaseModel)


class Parrot(Model):
    """Repeats what the user has said so far."""

    def update_config(self, **model_config: Any) -> None:
        """Do nothing: there is nothing to configure."""

    def get_config(self) -> dict[str, str]:
        return {}

    def structured_output(
        self,
        output_model: type[T],
        prompt: Messages,
        system_prompt: str | None = None,
        **kwargs: Any,
    ) -> AsyncGenerator[dict[str, T | Any], None]:
        raise NotImplementedError

    async def stream(
        self, messages: Messages, *arguments: Any, **kwargs: Any
    ) -> AsyncGenerator[StreamEvent, None]:
        said = [
            block.get("text", "")
            for each in messages
            if each["role"] == "user"
            for block in each["content"]
        ]
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": f"You said: {'; '.join(said)}"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


with Client() as client:
    session = AgentMemorySessionManager("chat-42", client, ttl="P30D")
    agent = Agent(model=Parrot(), session_manager=session, callback_handler=None)
    print(str(agent(sys.argv[1] if len(sys.argv) > 1 else "Hello")).strip())
