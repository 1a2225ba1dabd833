"""Frees the room that expired entries still hold when a limit is reached (contract §4)."""

from functions.entries.model import Entry
from functions.entries.plan import Plan
from functions.entries.store import EntryStore
from functions.entries.writer import EntryWriter
from functions.entries.writes import Transition, agent_tallies, task_tallies
from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import EntryNotFound, VersionMismatch
from functions.platform.idempotency import RequestToken


class Expiry:
    """Removes expired entries of the agents and tasks whose limits stand in the way."""

    def __init__(self, store: EntryStore, writer: EntryWriter, clock: Clock) -> None:
        self._store = store
        self._writer = writer
        self._clock = clock

    def make_room(self, caller: Principal, steps: tuple[Transition, ...]) -> bool:
        """Removes what has expired where the steps would add; whether there was anything."""
        now = self._clock()
        found: dict[str, Entry] = {}
        for agent in agent_tallies(steps):
            for entry in self._store.expired_of_agent(caller.tenant, agent, now):
                found[entry.id] = entry
        for task in task_tallies(steps):
            for entry in self._store.of_task(caller.tenant, task):
                if entry.expired(now):
                    found[entry.id] = entry
        return sum(self._remove(caller, entry) for entry in found.values()) > 0

    def _remove(self, caller: Principal, entry: Entry) -> bool:
        plan = Plan(caller, (Transition(entry, None, reason="expired"),), self._clock())
        try:
            self._writer.commit(plan, RequestToken.fresh())
        except (EntryNotFound, VersionMismatch):
            return False
        return True
