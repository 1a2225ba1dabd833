"""An agent of Google's ADK with stored sessions.

    python google_adk_services.py "My name is Ada."
    python google_adk_services.py "I like tea."

The environment has AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY. The agent here needs no model;
replace it by an `LlmAgent`.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator

from agent_memory import Client
from agent_memory.adapters.google_adk import (
    AgentMemoryArtifactService,
    AgentMemoryMemoryService,
    AgentMemorySessionService,
)
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.runners import Runner
from google.genai import types


def read_text(event: Event) -> str:
    """Return the text of the event."""
    parts = (event.content and event.content.parts) or []
    return "".join(part.text or "" for part in parts)


class Parrot(BaseAgent):
    """Repeats what the user has said so far."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        said = [read_text(each) for each in ctx.session.events if each.author == "user"]
        content = types.Content(parts=[types.Part(text=f"You said: {'; '.join(said)}")])
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


async def main(text: str) -> None:
    with Client() as client:
        runner = Runner(
            agent=Parrot(name="parrot"),
            app_name="chat",
            session_service=AgentMemorySessionService(client),
            memory_service=AgentMemoryMemoryService(client),
            artifact_service=AgentMemoryArtifactService(client),
        )
        sessions, user, chat = runner.session_service, "ada", "chat-42"
        if not await sessions.get_session(app_name="chat", user_id=user, session_id=chat):
            await sessions.create_session(app_name="chat", user_id=user, session_id=chat)
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for event in runner.run_async(user_id=user, session_id=chat, new_message=message):
            print(read_text(event))


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "Hello"))
