"""Claude's memory tool with its files in the service (extra `anthropic`).

```python
tool = AgentMemoryTool(Client(api_key="am_..."), root="users/ada")
runner = Anthropic().beta.messages.tool_runner(tools=[tool], ...)
```
"""

from agent_memory.adapters.extras import Extra

with Extra("anthropic"):
    from agent_memory.adapters.anthropic.async_tool import AsyncAgentMemoryTool
    from agent_memory.adapters.anthropic.tool import AgentMemoryTool

__all__ = ["AgentMemoryTool", "AsyncAgentMemoryTool"]
