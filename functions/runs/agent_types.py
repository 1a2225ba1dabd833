"""Which agent types a tenant uses: noted at most once a day by each process."""

from operator import attrgetter
from threading import Lock

from functions.identity.model import Principal
from functions.platform.bounded_pages import BoundedPage, WantedPage, read_page
from functions.platform.clock import Clock
from functions.platform.run_keys import DAY
from functions.runs.model import AgentType
from functions.runs.store import AgentTypeStore

_MAX_REMEMBERED = 10_000  # agent types, of all tenants


class AgentTypes:
    """The agent types of a caller's tenant."""

    def __init__(self, store: AgentTypeStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._noted: dict[tuple[str, str, bool], int] = {}
        self._lock = Lock()

    def record_use(self, tenant: str, agent_type: str, *, has_workflows: bool = False) -> None:
        """Note that an agent type is used, or gets a workflow: one write a day and process."""
        name, now = (tenant, agent_type, has_workflows), self._clock()
        if self._noted.get(name, -DAY) > now - DAY:
            return
        self._store.put(tenant, agent_type, now, has_workflows=has_workflows)
        with self._lock:
            if len(self._noted) >= _MAX_REMEMBERED:
                self._noted.clear()
            self._noted[name] = now

    def list_page(self, caller: Principal, wanted: WantedPage) -> BoundedPage[AgentType]:
        """List agent types with workflows, and those of the last 90 days, from the last name."""
        now, found = self._clock(), self._store.list_all(caller.tenant, wanted)
        return read_page(wanted, found, lambda each: each.is_listed(now), attrgetter("agent_type"))
