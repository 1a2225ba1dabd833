"""Which agent types a tenant uses: noted at most once a day by each process (contract §11)."""

from threading import Lock

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.item_types import AGENT_TYPE
from functions.platform.items import Item
from functions.platform.run_keys import (
    DAY,
    build_agent_type_key,
    build_agent_types_partition,
)
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.ttl import to_ttl_seconds
from functions.platform.writes import put
from functions.runs.model import AgentType, compute_expiry

_MAX_REMEMBERED = 10_000  # agent types, of all tenants


class AgentTypeStore:
    """Reads and writes the agent types of all tenants."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, tenant: str, agent_type: str, now: int) -> None:
        """Note that an agent type is used: one write."""
        item: Item = {
            "agent_type": agent_type,
            "used": now,
            TTL_ATTRIBUTE: to_ttl_seconds(compute_expiry(now)),
        }
        self._table.put(put(build_agent_type_key(tenant, agent_type), item))

    def list_all(self, tenant: str, now: int) -> list[AgentType]:
        """List a tenant's agent types of the last 90 days: a call per megabyte."""
        partition = build_agent_types_partition(tenant)
        found = self._table.query(partition, AGENT_TYPE.sort_prefix)
        types = [AgentType(item["agent_type"], item["used"]) for item in found]
        return [each for each in types if compute_expiry(each.used) > now]


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
