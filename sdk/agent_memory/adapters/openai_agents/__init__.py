"""A `Session` of the OpenAI Agents SDK that keeps its items in the service (extra `openai-agents`).

```python
session = AgentMemorySession("chat-42", AsyncClient(api_key="am_..."))
await Runner.run(agent, "Hello", session=session)
```
"""

from agent_memory.adapters.extras import Extra

with Extra("openai-agents"):
    from agent_memory.adapters.openai_agents.session import AgentMemorySession

__all__ = ["AgentMemorySession"]
