"""Looks after agents whose time has come: a lowered capacity, and the daily proof of counters."""

from collections import Counter
from collections.abc import Callable

from functions.entries.agents import AgentMemory
from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.keys import get_tenant
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import update

_LATER = 3_600_000  # ms, for what can't be done now: a capacity below the pinned entries


class Agents:
    """Sheds what is over an agent's capacity, proves its counters, and takes the mark away."""

    def __init__(self, table: Table, memory: AgentMemory, clock: Clock) -> None:
        self._table = table
        self._memory = memory
        self._clock = clock

    def look_after(self, item: Item, time_left: Callable[[], bool]) -> Counter[str]:
        """Does all for one agent, by the item of its counters; what was done, counted.

        The mark stays if the time is over, so that the next sweep goes on.
        """
        tenant, agent = get_tenant(item["pk"]), item["agent_id"]
        evicted = self._memory.evict_excess(tenant, agent, time_left)
        if not time_left():
            return Counter(evicted=evicted)
        repaired = self._memory.reconcile_counters(tenant, agent, time_left)
        self._unmark(item, done=repaired is not None)
        return Counter(evicted=evicted, proven=int(repaired is not None), repaired=repaired or 0)

    def _unmark(self, item: Item, *, done: bool) -> None:
        """Takes the mark away that `item` carries, or puts it off; a newer one stays."""
        key, due = (item["pk"], item["sk"]), item["due"]
        fits = "(attribute_not_exists(ep_room) OR ep_room >= :zero)"
        try:
            if done:
                self._table.update(
                    update(key, "REMOVE due, due_ix", f"due = :due AND {fits}", due=due, zero=0)
                )
                return
        except ConditionFailed as failed:
            if failed.item is None or failed.item.get("due") != due:
                return
        self._put_off(key, due)

    def _put_off(self, key: tuple[str, str], due: int) -> None:
        later = self._clock() + _LATER
        try:
            self._table.update(update(key, "SET due = :later", "due = :due", due=due, later=later))
        except ConditionFailed:
            return
