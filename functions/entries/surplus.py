"""Brings an agent down to a capacity that was lowered below what it holds (contract §4)."""

from collections.abc import Callable

from functions.entries.departures import departures
from functions.entries.items import EntryItems
from functions.entries.plan import Plan
from functions.entries.store import EntryStore
from functions.identity.model import Principal
from functions.platform import entry_keys
from functions.platform.clock import Clock
from functions.platform.retry import Backoff
from functions.platform.table import Refused, Table

_AT_ONCE = 30  # entries; two writes each, in one transaction
_LONGEST_WAIT = 0.05  # seconds; the index follows within milliseconds


class Surplus:
    """Evicts what an agent holds over its episodic capacity, in the order of RFC-0015 §2.2."""

    def __init__(self, table: Table, items: EntryItems, store: EntryStore, clock: Clock) -> None:
        self._table = table
        self._items = items
        self._store = store
        self._clock = clock

    def shed(self, tenant: str, agent: str, time_left: Callable[[], bool]) -> int:
        """Evicts until the capacity holds, nothing may be evicted, or the time is over.

        Never more than that, whatever runs in parallel: each transaction has the room that it was
        decided on as a condition. Gives the number of entries that went.
        """
        gone = 0
        backoff = Backoff(
            "others are writing this agent's memory", attempts=8, longest_wait=_LONGEST_WAIT
        )
        while time_left():
            room = self._room(tenant, agent)
            if room >= 0:
                break
            now, wanted = self._clock(), min(-room, _AT_ONCE)
            steps = departures(self._store, tenant, agent, now, wanted, most_expired=wanted)
            if not steps:
                break
            caller = Principal(tenant, agent, "agent", frozenset())
            plan = Plan(caller, steps, now, seen_room=room)
            try:
                self._table.transact(plan.writes(self._items))
                gone += len(steps)
            except Refused:
                backoff.wait()
        return gone

    def _room(self, tenant: str, agent: str) -> int:
        counters = self._table.get(entry_keys.build_agent_key(tenant, agent)) or {}
        room: int = counters.get("ep_room", 0)
        return room
