"""The jobs of a sweep: what is done with due items, by their type.

A new job is a function here and a line in the table of `build_jobs`. Due entries are removed in
groups; all other items have a job each.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from functions.container import Container
from functions.entries.agents import AgentMemory
from functions.entries.counters import Transition
from functions.entries.mapper import EntryMapper
from functions.entries.transaction import EntryWriter, Transaction
from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.clock import Clock
from functions.platform.errors import EntryNotFound, VersionMismatch
from functions.platform.item_types import ItemType
from functions.platform.items import Item
from functions.platform.keys import Key, get_tenant
from functions.schedule.reembedding import Reembedding
from functions.schedule.store import DueIndex

HasTime = Callable[[], bool]
Job = Callable[[Item, HasTime], Counter[str]]
"""Processes a due item and counts what was done; what isn't finished stays due."""

JOB_SECONDS = 8.0  # what takes longer is resumed by the next sweep
_ACTOR = "~schedule"


def build_jobs(container: Container, reembedding: Reembedding) -> dict[ItemType, Job]:
    """Build the table of jobs: one for each type of item that becomes due, but for entries."""
    index = DueIndex(container.table, container.clock)
    collector = container.memory_garbage_collector
    archive, conversations = container.task_archive, container.conversation_archive
    return {
        item_types.AGENT: _maintain_agents(index, container.agent_memory),
        item_types.TASK: _resume_long(
            lambda key, seconds: archive.resume_at(key[0], seconds), "archived"
        ),
        item_types.CONVERSATION: _resume_long(conversations.end_retention, "conversations"),
        item_types.ORPHANED_MESSAGES: _resume_long(container.orphaned_messages.remove, "orphans"),
        item_types.MEMORY: collector.collect,
        item_types.MEMORY_ENTRY: lambda item, _: collector.expire(item),
        item_types.EMBEDDING: lambda item, _: reembedding.resume(item, JOB_SECONDS),
    }


def _resume_long(resume: Callable[[Key, float], bool], name: str) -> Job:
    """Make a job of a function that takes key and seconds, and tells whether all is done."""

    def job(item: Item, _has_time: HasTime) -> Counter[str]:
        is_done = resume((item["pk"], item["sk"]), JOB_SECONDS)
        return Counter({name: 1}) if is_done else Counter(stopped=1)

    return job


def _maintain_agents(index: DueIndex, memory: AgentMemory) -> Job:
    """Make the job that evicts what is over an agent's capacity and reconciles its counters."""

    def job(agent: Item, has_time: HasTime) -> Counter[str]:
        tenant, agent_id = get_tenant(agent["pk"]), agent["agent_id"]
        evicted = memory.evict_excess(tenant, agent_id, has_time)
        if not has_time():
            return Counter(evicted=evicted)
        repaired = memory.reconcile_counters(tenant, agent_id, has_time)
        if repaired is None:
            index.postpone_agent(agent)
            return Counter(evicted=evicted)
        index.complete_agent(agent)
        return Counter(evicted=evicted, reconciled=1, repaired=repaired)

    return job


class ExpiredEntries:
    """Removes expired entries with their index rows, tombstones and counters (RFC-0015 §9.3)."""

    def __init__(self, writer: EntryWriter, mapper: EntryMapper, clock: Clock) -> None:
        self._writer = writer
        self._mapper = mapper
        self._clock = clock

    def remove(self, items: Sequence[Item]) -> int:
        """Remove what has expired among entries of one partition, and count it.

        If one was changed or removed meanwhile, the others are removed one by one.
        """
        try:
            return self._remove(items)
        except (EntryNotFound, VersionMismatch):
            return sum(self.remove([item]) for item in items) if len(items) > 1 else 0

    def _remove(self, items: Sequence[Item]) -> int:
        now = self._clock()
        entries = [self._mapper.to_entry(item) for item in items]
        transitions = tuple(
            Transition(entry, None, index, reason="expired")
            for index, entry in enumerate(entries)
            if entry.is_expired(now)
        )
        if transitions:
            caller = Principal(entries[0].address.tenant, _ACTOR, "user", frozenset())
            self._writer.commit(Transaction(caller, transitions, now))
        return len(transitions)
