"""Pydantic AI's conversations in the service (extra `pydantic-ai`).

```python
store = AgentMemoryConversationStore(Client(api_key="am_..."))
conversation = await store.load("chat-42") or Conversation(conversation_id="chat-42")
result = await agent.run("Hello", conversation=conversation)
await store.save(result)
```
"""

from agent_memory.adapters.extras import Extra

with Extra("pydantic-ai"):
    from agent_memory.adapters.pydantic_ai.store import AgentMemoryConversationStore

__all__ = ["AgentMemoryConversationStore"]
