"""OpenWOP's memory layer for replayable runs (OpenWOP RFC 0004).

```python
from agent_memory import Client
from agent_memory.openwop import MemoryAdapter

with MemoryAdapter(Client()).start("planner", secrets={"stripe": "sk_live_..."}) as run:
    run.put(run.memory_ref, "paid with sk_live_...")  # persisted as <REDACTED:stripe>
    run.list(run.memory_ref)  # the same entries each time
```
"""

from typing import TYPE_CHECKING, Any

from agent_memory._sync.openwop import MemoryAdapter, MemoryRun
from agent_memory.openwop_model import (
    Duration,
    MemoryEntry,
    MemoryRunState,
    OnSecret,
    OwnMemory,
    RunEndedError,
    SecretLeakageError,
    SeenMemoryEntry,
)

if TYPE_CHECKING:
    from agent_memory._async.openwop import AsyncMemoryAdapter, AsyncMemoryRun

__all__ = [
    "AsyncMemoryAdapter",
    "AsyncMemoryRun",
    "Duration",
    "MemoryAdapter",
    "MemoryEntry",
    "MemoryRun",
    "MemoryRunState",
    "OnSecret",
    "OwnMemory",
    "RunEndedError",
    "SecretLeakageError",
    "SeenMemoryEntry",
]

_ASYNC = ("AsyncMemoryAdapter", "AsyncMemoryRun")


def __getattr__(name: str) -> Any:
    """Import the async half at its first use: the command line does not need asyncio."""
    if name not in _ASYNC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agent_memory._async import openwop  # noqa: PLC0415

    return getattr(openwop, name)
