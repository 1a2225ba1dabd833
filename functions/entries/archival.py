"""What happens to a task's memory when the task ends (RFC-0015 §2.1; contract §5).

In three steps, each of which may be done again by whoever comes next, call or schedule:

1. Each entry moves, in one transaction, from memory into a part of its agent's snapshot, with the
   value that it has at that instant. So a racing change is in the snapshot or refused, never lost.
2. When the task's counters say that nothing is left, the snapshots become `memory.archived`
   events; an event's id follows from its cause, so it is appended once.
3. The parts are deleted and the task is marked as archived.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator

from functions.entries.model import Entry
from functions.entries.plan import Plan
from functions.entries.snapshots import Part, SnapshotStore, archived_events, line_size
from functions.entries.store import EntryStore
from functions.entries.writer import EntryWriter
from functions.entries.writes import Reason, Transition
from functions.event_log.store import LogStore
from functions.identity.model import Principal
from functions.platform import keys
from functions.platform.clock import Clock
from functions.platform.errors import EntryNotFound, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.tasks.model import Task
from functions.tasks.store import TaskStore

_MOST_TOGETHER = 20  # entries of one move
_MOST_BYTES = 250_000  # of lines in one part; an item holds 400 KB
_IN_THE_CALL = 20.0  # seconds; the schedule finishes what takes longer
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5  # seconds; an index follows within milliseconds


class Archival:
    """Archives and removes the memory of ended tasks."""

    def __init__(
        self,
        store: EntryStore,
        writer: EntryWriter,
        snapshots: SnapshotStore,
        tasks: TaskStore,
        logs: LogStore,
        clock: Clock,
    ) -> None:
        self._store = store
        self._writer = writer
        self._snapshots = snapshots
        self._tasks = tasks
        self._logs = logs
        self._clock = clock

    def finish(self, tenant: str, task_id: str, seconds: float = _IN_THE_CALL) -> bool:
        """Archives an ended task's memory; False if that took longer than `seconds`."""
        task = self._tasks.get(tenant, task_id)
        return task is None or self._finish(tenant, task, seconds)

    def finish_at(self, partition: str, seconds: float) -> bool:
        """The same, for the task whose item stands in a partition."""
        task = self._tasks.at(partition)
        return task is None or self._finish(keys.tenant_of(partition), task, seconds)

    def _finish(self, tenant: str, task: Task, seconds: float) -> bool:
        if task.ended is None or task.archived is not None:
            return True
        if not self._clear(tenant, task, time.monotonic() + seconds):
            return False
        parts = self._snapshots.parts(tenant, task.id)
        for event in archived_events(tenant, task, parts):
            self._logs.append(tenant, event.log, [event])
        self._snapshots.drop(tenant, task, parts, self._clock())
        self._tasks.close(tenant, task, self._clock())
        return True

    def _clear(self, tenant: str, task: Task, deadline: float) -> bool:
        """Moves everything out of memory; the task's counters prove that it is everything."""
        pause = _FIRST_PAUSE
        while time.monotonic() < deadline:
            moved = self._move(tenant, task, deadline)
            present = self._tasks.get(tenant, task.id)
            if present is None or (present.held, present.attached) == (0, 0):
                return True
            if not moved:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        return False

    def _move(self, tenant: str, task: Task, deadline: float) -> bool:
        moved = False
        for chunk in _chunks(self._store.of_task(tenant, task.id)):
            if time.monotonic() > deadline:
                return moved
            moved |= self._move_together(tenant, task, chunk)
        return moved

    def _move_together(self, tenant: str, task: Task, chunk: list[Entry]) -> bool:
        reason = _reason(task, chunk[0])
        steps = tuple(Transition(entry, None, reason=reason) for entry in chunk)
        plan = Plan(_service(tenant), steps, self._clock())
        if reason == "archived":
            write = self._snapshots.part(tenant, task.id, Part(chunk[0].agent, chunk))
            plan.along[write.key] = write
        try:
            self._writer.commit(plan, RequestToken.fresh())
        except (EntryNotFound, VersionMismatch):
            return False  # it was changed or removed meanwhile; the next round sees it anew
        return True


def _service(tenant: str) -> Principal:
    """Who removes what nobody asked to be removed."""
    return Principal(tenant, "", "user", frozenset())


def _reason(task: Task, entry: Entry) -> Reason:
    if entry.tier != "working":
        return "expired"
    return "archived" if task.archives else "deleted"


def _chunks(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Entries of one agent and kind that fit into one transaction and one part."""
    groups: defaultdict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[entry.agent, entry.tier].append(entry)
    for group in groups.values():
        chunk: list[Entry] = []
        room = _MOST_BYTES
        for entry in group:
            size = line_size(entry)
            most = _MOST_TOGETHER if entry.tier != "semantic" else 1
            if chunk and (len(chunk) >= most or size > room):
                yield chunk
                chunk, room = [], _MOST_BYTES
            chunk.append(entry)
            room -= size
        yield chunk
