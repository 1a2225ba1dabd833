"""The services of Google's Agent Development Kit (extra `google-adk`).

```python
client = Client(api_key="am_...")
runner = Runner(agent=agent, app_name="app", session_service=AgentMemorySessionService(client))
```
"""

from agent_memory.adapters.extras import Extra

with Extra("google-adk"):
    from agent_memory.adapters.google_adk.artifacts import AgentMemoryArtifactService
    from agent_memory.adapters.google_adk.memory import AgentMemoryMemoryService
    from agent_memory.adapters.google_adk.sessions import AgentMemorySessionService

__all__ = ["AgentMemoryArtifactService", "AgentMemoryMemoryService", "AgentMemorySessionService"]
