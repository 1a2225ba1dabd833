"""LangGraph's store and checkpointer on the service (extra `langgraph`).

```python
client = Client(api_key="am_...")
graph = builder.compile(checkpointer=AgentMemorySaver(client), store=AgentMemoryStore(client))
```
"""

from agent_memory.adapters.extras import Extra

with Extra("langgraph"):
    from agent_memory.adapters.langgraph.saver import AgentMemorySaver
    from agent_memory.adapters.langgraph.store import AgentMemoryStore

__all__ = ["AgentMemorySaver", "AgentMemoryStore"]
