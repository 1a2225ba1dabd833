"""Items of agent types: a tenant's are in one partition."""

from collections.abc import Iterator

from functions.platform.item_types import AGENT_TYPE
from functions.platform.items import Item
from functions.platform.keys import HIGHEST
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.run_keys import build_agent_type_key
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import ConditionFailed, Store
from functions.platform.ttl import to_ttl_seconds
from functions.platform.writes import update
from functions.runs.model import AgentType, compute_expiry


class AgentTypeStore(Store):
    """Reads and writes the agent types of all tenants."""

    def put(self, tenant: str, agent_type: str, now: int) -> None:
        """Note that an agent type is used: one write, and one more if it has workflows."""
        ttl = to_ttl_seconds(compute_expiry(now))
        names = f"SET agent_type = :name, last_used_at = :now, {TTL_ATTRIBUTE} = :ttl"
        key = build_agent_type_key(tenant, agent_type)
        has_none = "attribute_not_exists(has_workflows)"
        try:
            self._table.update(update(key, names, has_none, name=agent_type, now=now, ttl=ttl))
        except ConditionFailed:
            self.put_lasting(tenant, agent_type, now)

    def put_lasting(self, tenant: str, agent_type: str, now: int) -> None:
        """Note that an agent type has workflows: one write. It is listed from then on."""
        names = "SET agent_type = :name, last_used_at = :now, has_workflows = :true"
        expression = f"{names} REMOVE {TTL_ATTRIBUTE}"
        key = build_agent_type_key(tenant, agent_type)
        self._table.update(update(key, expression, name=agent_type, now=now, true=True))

    def iterate(self, tenant: str, before: str | None, count: int) -> Iterator[AgentType]:
        """Read a tenant's agent types before a name, the last one first: a call for each `count`.

        Those that DynamoDB will delete soon are among them.
        """
        last = build_agent_type_key(tenant, HIGHEST if before is None else before)
        items = self._table.query_from(
            last[0], AGENT_TYPE.sort_prefix, last[1], min(count, MAX_PAGE_ITEMS), newest_first=True
        )
        found = map(_decode, items)
        return (each for each in found if each.agent_type != before)


def _decode(item: Item) -> AgentType:
    return AgentType(item["agent_type"], item["last_used_at"], item.get("has_workflows", False))
