"""CrewAI's memory and the states of its flows in the service (extra `crewai`).

```python
crew = Crew(memory=Memory(storage=AgentMemoryStorageBackend(Client())), ...)

@persist(AgentMemoryFlowPersistence("https://memory.example"))
class Report(Flow[State]): ...
```
"""

from agent_memory.adapters.extras import Extra

with Extra("crewai"):
    from agent_memory.adapters.crewai.flows import AgentMemoryFlowPersistence
    from agent_memory.adapters.crewai.memory import AgentMemoryStorageBackend

__all__ = ["AgentMemoryFlowPersistence", "AgentMemoryStorageBackend"]
