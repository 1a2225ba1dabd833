"""OpenWOP's memory layer for replayable runs (OpenWOP RFC 0004).

```python
from agent_memory import Client
from agent_memory.openwop import MemoryAdapter

with MemoryAdapter(Client()).start("planner", secrets={"stripe": "sk_live_..."}) as run:
    run.put(run.memory_ref, "paid with sk_live_...")  # persisted as <REDACTED:stripe>
    run.list(run.memory_ref)  # what was there when the run started, each time
```
"""

from agent_memory._async.openwop import AsyncMemoryAdapter, AsyncMemoryRun
from agent_memory._sync.openwop import MemoryAdapter, MemoryRun
from agent_memory.openwop_model import (
    Duration,
    MemoryEntry,
    OnSecret,
    RunEndedError,
    RunState,
    SecretLeakageError,
    SeenEntry,
)

__all__ = [
    "AsyncMemoryAdapter",
    "AsyncMemoryRun",
    "Duration",
    "MemoryAdapter",
    "MemoryEntry",
    "MemoryRun",
    "OnSecret",
    "RunEndedError",
    "RunState",
    "SecretLeakageError",
    "SeenEntry",
]
