"""Memory for agents: the client of the Agent memory service (RFC-0015 "SDK Semantics").

```python
from agent_memory import Client

ada = Client(server_url="http://127.0.0.1:8080", api_key="am_...").for_user("ada")
ada.remember("Ada pays by invoice")
ada.recall("How does she pay?").text
```
"""

import importlib
from typing import TYPE_CHECKING, Any

from agent_memory.model import (
    AuditRecord,
    Entry,
    Event,
    Namespace,
    NewPrincipal,
    Principal,
    SearchResult,
    Task,
)

if TYPE_CHECKING:
    from agent_memory._async.client import AsyncClient
    from agent_memory._async.pages import AsyncPages
    from agent_memory._sync.client import Client
    from agent_memory._sync.pages import Pages
    from agent_memory.context import AsyncContext, Context
    from agent_memory.exceptions import TaskLostError
    from agent_memory.memory_store import (
        BaseMemoryStore,
        ConversationContext,
        DatabaseMemoryStore,
        InMemoryMemoryStore,
        Message,
    )
    from agent_memory.page import Page
    from agent_memory.worker import Worker

__all__ = [
    "AsyncClient",
    "AsyncContext",
    "AsyncPages",
    "AuditRecord",
    "BaseMemoryStore",
    "Client",
    "Context",
    "ConversationContext",
    "DatabaseMemoryStore",
    "Entry",
    "Event",
    "InMemoryMemoryStore",
    "Message",
    "Namespace",
    "NewPrincipal",
    "Page",
    "Pages",
    "Principal",
    "SearchResult",
    "Task",
    "TaskLostError",
    "Worker",
]

_LATER = {
    "AsyncClient": "_async.client",
    "AsyncPages": "_async.pages",
    "Client": "_sync.client",
    "Page": "page",
    "Pages": "_sync.pages",
    "Worker": "worker",
    "Context": "context",
    "AsyncContext": "context",
    "TaskLostError": "exceptions",
    "BaseMemoryStore": "memory_store",
    "ConversationContext": "memory_store",
    "DatabaseMemoryStore": "memory_store",
    "InMemoryMemoryStore": "memory_store",
    "Message": "memory_store",
}


def __getattr__(name: str) -> Any:
    """Import each name at its first use: pytest loads this package in every run."""
    if name not in _LATER:
        importlib.import_module("agent_memory.hints").refuse_name(__name__, name)
    return getattr(importlib.import_module(f"agent_memory.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return __all__
