"""The memory stores of the Agent Memory Protocol 1.0, in the service or in the process.

```python
store: BaseMemoryStore = DatabaseMemoryStore(Client(api_key="am_..."))
store.store_conversation("session_42", "user_7", conversation)
store.retrieve_conversation("session_42")
```
"""

from agent_memory.memory_store.base import BaseMemoryStore
from agent_memory.memory_store.conversation import ConversationContext, Message
from agent_memory.memory_store.database import DatabaseMemoryStore
from agent_memory.memory_store.in_memory import InMemoryMemoryStore

__all__ = [
    "BaseMemoryStore",
    "ConversationContext",
    "DatabaseMemoryStore",
    "InMemoryMemoryStore",
    "Message",
]
