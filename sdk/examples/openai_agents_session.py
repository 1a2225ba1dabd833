"""An agent of the OpenAI Agents SDK that continues a conversation of another process.

The environment has AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY. The model is scripted. The arguments
are the user's message: `python openai_agents_session.py I like chess.`
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from agent_memory import AsyncClient
from agent_memory.adapters.openai_agents import AgentMemorySession
from agents import Agent, Model, ModelResponse, RunConfig, Runner, TResponseInputItem, Usage
from agents.items import TResponseStreamEvent
from openai.types.responses import ResponseOutputMessage, ResponseOutputText


class ScriptedModel(Model):
    """A model that answers from the history that the session gives it."""

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        *args: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        items = [] if isinstance(input, str) else input
        told = [str(item.get("content")) for item in items if item.get("role") == "user"]
        text = ResponseOutputText(
            text=f"You said: {'; '.join(told)}", type="output_text", annotations=[]
        )
        answer = ResponseOutputMessage(
            id=f"msg_{len(input)}",
            content=[text],
            role="assistant",
            status="completed",
            type="message",
        )
        return ModelResponse(output=[answer], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError("this example doesn't stream")


async def main(said: str) -> None:
    agent = Agent("Echo", model=ScriptedModel())
    async with AsyncClient() as client:
        session = AgentMemorySession("chat-42", client)
        quiet = RunConfig(tracing_disabled=True)
        result = await Runner.run(agent, said, session=session, run_config=quiet)
        print(result.final_output)
        print(f"{len(await session.get_items())} items")


asyncio.run(main(" ".join(sys.argv[1:]) or "Hello."))
