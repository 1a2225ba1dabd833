"""Which agent types a tenant uses: noted at most once a day by each process (contract §11)."""

from threading import Lock

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.run_keys import DAY
from functions.runs.agent_type_store import AgentTypeStore
from functions.runs.model import AgentType

_MAX_REMEMBERED = 10_000  # agent types, of all tenants


class AgentTypes:
    """The agent types of a caller's tenant."""

    def __init__(self, store: AgentTypeStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._noted: dict[tuple[str, str], int] = {}
        self._lock = Lock()

    def record_use(self, tenant: str, agent_type: str) -> None:
        """Note that an agent type is used: one write a day and process."""
        name, now = (tenant, agent_type), self._clock()
        if self._noted.get(name, -DAY) > now - DAY:
            return
        self._store.put(tenant, agent_type, now)
        with self._lock:
            if len(self._noted) >= _MAX_REMEMBERED:
                self._noted.clear()
            self._noted[name] = now

    def list_all(self, caller: Principal) -> list[AgentType]:
        """List the agent types that were used in the last 90 days, by name from the last one."""
        found = self._store.list_all(caller.tenant, self._clock())
        return sorted(found, key=lambda each: each.name, reverse=True)
