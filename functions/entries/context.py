"""Find the memory for the context window of a task (RFC-0015 §6.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from functions.entries.capacity import AccessTracker
from functions.entries.filters import Filters, parse_namespace_filter
from functions.entries.model import Entry
from functions.entries.query import Queries
from functions.entries.tiers import EPISODIC, SEMANTIC, WORKING
from functions.identity.model import Principal
from functions.platform.errors import AccessDenied
from functions.tasks.access import TaskAccess
from functions.tasks.guardrails import GuardrailService
from functions.tasks.model import Task
from functions.tasks.rules import is_coordinator, task_not_found

Section = Literal["working", "inherited", "episodic", "semantic"]


@dataclass(eq=False)
class Contexts:
    """Finds the memory that belongs to a task, most important first."""

    _queries: Queries
    _access_tracker: AccessTracker
    _tasks: TaskAccess
    _guardrails: GuardrailService

    def find(
        self,
        caller: Principal,
        task_id: str,
        episodic_limit: int,
        tags: frozenset[str],
        *,
        is_touched: bool = True,
    ) -> tuple[Task, Iterator[tuple[Section, Entry]]]:
        """Return a task and its memory.

        The order is: working memory, the parent's working memory if the task inherits, episodic
        entries, and the semantic namespaces declared for the task.

        Memory that the caller may not read is left out. Each group is read when it is used.

        Args:
            episodic_limit: the maximum number of episodic entries, newest first.
            tags: the episodic entries must have all of them.
            is_touched: whether the owner's reads count for the order of eviction.

        Raises:
            NotFound: when there is no such task in the caller's tenant.
            AccessDenied: when the caller may not read the task's working memory.
        """
        found = self._tasks.get_many(caller.tenant, {task_id})
        if not found:
            raise task_not_found()
        if not self._tasks.can_read_memory(caller, found[0]):
            raise AccessDenied("you may not read the memory of this task")
        episodes = self._iterate_episodes(
            caller, found[0], episodic_limit, tags, is_touched=is_touched
        )
        return found[0], self._iterate_sections(caller, found[0], episodes)

    def _iterate_sections(
        self, caller: Principal, task: Task, episodes: Iterator[Entry]
    ) -> Iterator[tuple[Section, Entry]]:
        of_tasks: dict[Section, str | None] = {"working": task.id, "inherited": task.inherits_from}
        for section, task_id in of_tasks.items():
            if task_id is not None:
                working = Filters(memory_type=WORKING.name, task_id=task_id)
                for entry in self._queries.iterate(caller, working):
                    yield section, entry
        for entry in episodes:
            yield "episodic", entry
        for declared in self._list_declared_namespaces(caller.tenant, task):
            name, prefix = parse_namespace_filter(declared)
            named = Filters(memory_type=SEMANTIC.name, namespace=name, namespace_prefix=prefix)
            for entry in self._queries.iterate(caller, named):
                yield "semantic", entry

    def _iterate_episodes(
        self, caller: Principal, task: Task, limit: int, tags: frozenset[str], *, is_touched: bool
    ) -> Iterator[Entry]:
        if not limit:
            return
        is_assignees = task.assigned_agent is not None and is_coordinator(caller, task)
        owner = task.assigned_agent if is_assignees else caller.id
        newest = Filters(agent_id=owner, memory_type=EPISODIC.name, tags=tags)
        episodes = list(islice(self._queries.iterate(caller, newest), limit))
        if is_touched:
            self._access_tracker.record_reads(caller, episodes)
        yield from episodes

    def _list_declared_namespaces(self, tenant: str, task: Task) -> list[str]:
        """Return the namespaces that the task names, else those of its coordinator's guardrails."""
        named: list[str] | None = task.extra_fields.get("semantic_namespaces")
        if named is None and task.coordinator is not None:
            named = self._guardrails.list_allowed_namespaces(tenant, task.coordinator)
        return list(dict.fromkeys(named or ()))
