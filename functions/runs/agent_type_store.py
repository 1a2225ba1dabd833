"""The agent types that a tenant uses: each process records a use at most once a day."""

from operator import attrgetter
from threading import Lock

from functions.identity.model import Principal
from functions.platform.bounded_pages import BoundedPage, WantedPage, read_page
from functions.platform.clock import Clock, to_ttl_seconds
from functions.platform.item_types import AGENT_TYPE
from functions.platform.items import Item, from_attributes
from functions.platform.keys import HIGHEST
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.run_keys import DAY
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Table, TimedStore
from functions.platform.writes import update
from functions.runs.model import AgentType, compute_expiry

_MAX_REMEMBERED = 10_000  # agent types, of all tenants


class AgentTypes(TimedStore):
    """The agent types of all tenants."""

    def __init__(self, table: Table, clock: Clock) -> None:
        super().__init__(table, clock)
        self._noted: dict[tuple[str, str, bool], int] = {}
        self._lock = Lock()

    def record_use(self, tenant: str, agent_type: str, *, has_workflows: bool = False) -> None:
        """Record that an agent type is used, or gets a workflow: one write a day and process.

        It takes one more write if the type had workflows before. A type with workflows stays
        listed; others expire.
        """
        name, now = (tenant, agent_type, has_workflows), self._clock()
        if self._noted.get(name, -DAY) > now - DAY:
            return
        key, ttl = AGENT_TYPE.build_key(tenant, type=agent_type), compute_expiry(now)
        names = "SET agent_type = :name, last_used_at = :now"
        values: Item = {"name": agent_type, "now": now}
        expiring = f"{names}, {TTL_ATTRIBUTE} = :ttl"
        has_none = "attribute_not_exists(has_workflows)"
        used = update(key, expiring, has_none, ttl=to_ttl_seconds(ttl), **values)
        if has_workflows or not self._table.try_write(used):
            lasting = f"{names}, has_workflows = :true REMOVE {TTL_ATTRIBUTE}"
            self._table.update(update(key, lasting, true=True, **values))
        with self._lock:
            if len(self._noted) >= _MAX_REMEMBERED:
                self._noted.clear()
            self._noted[name] = now

    def list_page(self, caller: Principal, wanted: WantedPage) -> BoundedPage[AgentType]:
        """List agent types with workflows, and those used in the last 90 days, from the last name.

        DynamoDB may not have deleted expired ones yet.
        """
        begin, size = wanted.begin, min(wanted.read_size, MAX_PAGE_ITEMS)
        partition, last = AGENT_TYPE.build_key(caller.tenant, type=begin or HIGHEST)
        items = self._table.query(partition, AGENT_TYPE.sort_prefix, last, size, newest_first=True)
        now, found = self._clock(), (from_attributes(AgentType, item) for item in items)
        listed = (each for each in found if each.agent_type != begin)
        return read_page(wanted, listed, lambda each: each.is_listed(now), attrgetter("agent_type"))
