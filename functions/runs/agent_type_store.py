"""Items of agent types: a tenant's are in one partition."""

from functions.platform.item_types import AGENT_TYPE
from functions.platform.items import Item
from functions.platform.run_keys import build_agent_type_key, build_agent_types_partition
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.ttl import to_ttl_seconds
from functions.platform.writes import put
from functions.runs.model import AgentType, compute_expiry


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
