"""Count entries, bytes of values, and pinned entries, by agent and by task.

Every write is a transition of an entry. The counters change in the same transaction.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

from functions.entries.model import Entry, Transition
from functions.platform.errors import CapacityExceeded

_KB = 1024
STORE_ELSEWHERE = (
    "store what is to stay in semantic memory, which has no limit, by POST /api/v1/remember "
    '(client.remember) or with memory_type "semantic"; or raise the limit'
)
CONFIGURE = "by PATCH /api/v1/agents/{agent_id}/memory/config (client.agents.configure), "
_WORKING_REMEDY = (
    f"delete entries first; or {STORE_ELSEWHERE}: for a task in its memory_policy, "
    f"else for the agent {CONFIGURE}working"
)


@dataclass(slots=True)
class AgentCounts:
    """Entries of one agent; sizes are bytes of values.

    Attributes:
        working: working memory outside tasks, and in tasks without a coordinator.
        own, own_bytes: the part in tasks.
    """

    episodic: int = 0
    episodic_bytes: int = 0
    pinned: int = 0
    working: int = 0
    working_bytes: int = 0
    own: int = 0
    own_bytes: int = 0

    def add(self, entry: Entry, sign: int = 1) -> None:
        """Add an entry (sign=1), or remove it (sign=-1)."""
        if entry.policy.is_evictable:
            self.episodic += sign
            self.episodic_bytes += sign * entry.value_bytes
            self.pinned += sign * entry.pinned
        elif entry.policy.is_task_bound and (entry.task_id is None or entry.is_in_own_task):
            self.working += sign
            self.working_bytes += sign * entry.value_bytes
            self.own += sign * entry.is_in_own_task
            self.own_bytes += sign * entry.is_in_own_task * entry.value_bytes


@dataclass
class EntryCounts(AgentCounts):
    """Entries of one agent, with the entries and bytes of working memory in each task."""

    tasks: dict[str, tuple[int, int]] = field(default_factory=lambda: defaultdict(lambda: (0, 0)))

    def add(self, entry: Entry, sign: int = 1) -> None:
        """Add an entry (sign=1), or remove it (sign=-1)."""
        super().add(entry, sign)
        if entry.task_id is not None and entry.policy.is_task_bound:
            entries, size = self.tasks[entry.task_id]
            self.tasks[entry.task_id] = entries + sign, size + sign * entry.value_bytes


@dataclass(slots=True)
class CounterDelta(AgentCounts):
    """The change of an agent's or a task's counters.

    Attributes:
        attached: entries of other tiers that end with the task.
        has_creates: whether new entries are counted.
        newest: the sort token of the last new entry that agents count; changes no count.
        unpinned_namespaces: the change is valid only if the settings pin none of these.
    """

    attached: int = 0
    has_creates: bool = False
    unpinned_namespaces: set[str] = field(default_factory=set)
    newest: str = ""

    def is_zero(self) -> bool:
        """Return whether nothing changes, and no condition has to be checked."""
        return not any(getattr(self, each.name) for each in fields(self) if each.name != "newest")


Deltas = defaultdict[str, CounterDelta]
"""Changes of counters by agent or task."""


def count_agent_changes(transitions: Iterable[Transition]) -> Deltas:
    """Return the changes of agents' counters, by agent.

    Working memory in a task counts if the task has no coordinator.
    """
    deltas = Deltas(CounterDelta)
    for sign, entry, transition in _list_signed_entries(transitions):
        delta = deltas[entry.agent_id]
        if sign > 0 and entry.pinned_by_settings and not entry.pinned:
            delta.unpinned_namespaces.add(entry.namespace)
        if sign > 0 and transition.is_create:
            delta.newest = max(delta.newest, entry.sort_token)
        delta.add(entry, sign)
    return _leave_out_zero(deltas)


def count_task_changes(transitions: Iterable[Transition]) -> Deltas:
    """Return the changes of tasks' counters, by task id."""
    deltas = Deltas(CounterDelta)
    for sign, entry, transition in _list_signed_entries(transitions):
        if entry.task_id is None or not entry.ends_with_task:
            continue
        delta = deltas[entry.task_id]
        if entry.policy.is_task_bound:
            delta.working += sign
            delta.working_bytes += sign * entry.value_bytes
        else:
            delta.attached += sign
        delta.has_creates |= sign > 0 and transition.is_create
    return _leave_out_zero(deltas)


def _leave_out_zero(deltas: Deltas) -> Deltas:
    found = {name: delta for name, delta in deltas.items() if not delta.is_zero()}
    return Deltas(CounterDelta, found)


def _list_signed_entries(
    transitions: Iterable[Transition],
) -> Iterator[tuple[int, Entry, Transition]]:
    for transition in transitions:
        if transition.old is not None:
            yield -1, transition.old, transition
        if transition.new is not None:
            yield 1, transition.new, transition


def assert_working_fits(
    transitions: Sequence[Transition],
    count: Callable[[Sequence[Transition]], Mapping[str, CounterDelta]],
    name: str,
    free: tuple[int, int],
    most: tuple[int, int],
) -> None:
    """Raise `CapacityExceeded` when working memory grows beyond a limit of its task or agent.

    Args:
        transitions: the writes; the error has the index of the first that doesn't fit.
        count: counts what transitions change, for tasks or for agents.
        free: how many entries and bytes still fit.
        most: how many entries and bytes there may be.
    """
    delta = count(transitions)[name]
    if 0 < delta.working > free[0]:
        index = find_first_beyond(transitions, lambda part: count(part)[name].working > free[0])
        used = most[0] - free[0]
        raise CapacityExceeded("max_entries", used, most[0], _WORKING_REMEDY).at(index)
    if 0 < delta.working_bytes > free[1]:
        index = find_first_beyond(
            transitions, lambda part: count(part)[name].working_bytes > free[1]
        )
        used_kb = -(-(most[1] - free[1]) // _KB)
        most_kb = most[1] // _KB
        raise CapacityExceeded("max_total_size_kb", used_kb, most_kb, _WORKING_REMEDY).at(index)


def find_first_beyond(
    transitions: Sequence[Transition], is_beyond: Callable[[Sequence[Transition]], bool]
) -> int | None:
    """Return the index of the first transition that exceeds a limit, with those before it."""
    ends = range(1, len(transitions) + 1)
    end = next((end for end in ends if is_beyond(transitions[:end])), 1)
    return transitions[end - 1].index
