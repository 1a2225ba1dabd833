"""Strands Agents' sessions, storage and memories in the service (extra `strands`).

```python
client = Client(api_key="am_...")
agent = Agent(session_manager=AgentMemorySessionManager("chat-42", client))
```
"""

from agent_memory.adapters.extras import Extra

with Extra("strands"):
    from agent_memory.adapters.strands.memory import AgentMemoryMemoryStore
    from agent_memory.adapters.strands.session import AgentMemorySessionManager
    from agent_memory.adapters.strands.storage import AgentMemoryStorage

__all__ = ["AgentMemoryMemoryStore", "AgentMemorySessionManager", "AgentMemoryStorage"]
