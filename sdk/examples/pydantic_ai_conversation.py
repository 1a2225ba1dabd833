"""A Pydantic AI agent that continues its conversation in the next run.

    python pydantic_ai_conversation.py "My name is Ada."

The environment has AGENT_MEMORY_URL and AGENT_MEMORY_API_KEY. The model is a function, so no
language model is needed.
"""

import asyncio
import sys

from agent_memory import Client
from agent_memory.adapters.pydantic_ai import AgentMemoryConversationStore
from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.conversation import Conversation
from pydantic_ai.models.function import AgentInfo, FunctionModel


def answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    said = [
        str(part.content)
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    return ModelResponse(parts=[TextPart("You said: " + "; ".join(said))])


async def main(text: str) -> None:
    store = AgentMemoryConversationStore(Client())
    conversation = await store.load("chat-42") or Conversation(conversation_id="chat-42")
    result = await Agent(FunctionModel(answer)).run(text, conversation=conversation)
    await store.save(result)
    print(result.output)


asyncio.run(main(" ".join(sys.argv[1:]) or "Hello."))
