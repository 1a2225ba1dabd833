"""What an adapter packs into a context window for a task (RFC-0015 §6.3; contract §5)."""

from collections.abc import Iterator
from typing import Literal

from functions.entries.model import Entry, Filters
from functions.entries.query import Queries
from functions.identity.model import Principal
from functions.platform.errors import AccessDenied, NotFound
from functions.tasks.guardrail_service import GuardrailService
from functions.tasks.model import Task
from functions.tasks.rules import is_coordinator
from functions.tasks.service import Tasks

Section = Literal["working", "inherited", "episodic", "semantic"]
_AT_ONCE = 100  # entries of semantic memory that are read together


class Contexts:
    """The memory that belongs to a task, most important first."""

    def __init__(self, queries: Queries, tasks: Tasks, guardrails: GuardrailService) -> None:
        self._queries = queries
        self._tasks = tasks
        self._guardrails = guardrails

    def of(
        self, caller: Principal, task_id: str, episodic: int, tags: frozenset[str]
    ) -> Iterator[tuple[Section, Entry]]:
        """The task's working memory, its parent's where it inherits, then the newest `episodic`
        episodic entries that have all `tags`, then the semantic namespaces declared for the task.

        What the caller may not read is left out. Nothing is read before it is asked for.

        Raises:
            NotFound: no such task in the caller's tenant.
            AccessDenied: the caller may not read the task's working memory.
        """
        found = self._tasks.known(caller.tenant, {task_id})
        if not found:
            raise NotFound("no task has this id")
        if not self._tasks.reads_memory(caller, found[0]):
            raise AccessDenied("this task's memory isn't yours to read")
        return self._sections(caller, found[0], episodic, tags)

    def _sections(
        self, caller: Principal, task: Task, episodic: int, tags: frozenset[str]
    ) -> Iterator[tuple[Section, Entry]]:
        for entry in self._all(caller, Filters(tier="working", task=task.id)):
            yield "working", entry
        if task.policy.inherit_from_parent and task.parent is not None:
            for entry in self._all(caller, Filters(tier="working", task=task.parent)):
                yield "inherited", entry
        if episodic:
            owner = _whose(caller, task)
            newest = Filters(agent_id=owner, tier="episodic", tags=tags)
            found = self._queries.find_own(caller, newest)
            for entry in self._queries.page(caller, found, 0, episodic):
                yield "episodic", entry
        for namespace in self._declared(caller.tenant, task):
            for entry in self._all(caller, Filters(tier="semantic", namespace=namespace)):
                yield "semantic", entry

    def _all(self, caller: Principal, filters: Filters) -> Iterator[Entry]:
        found = self._queries.find_own(caller, filters)
        for offset in range(0, found.total, _AT_ONCE):
            yield from self._queries.page(caller, found, offset, _AT_ONCE)

    def _declared(self, tenant: str, task: Task) -> list[str]:
        """The namespaces that the task names, else those that its coordinator's guardrails do."""
        named: list[str] | None = task.kept.get("semantic_namespaces")
        if named is None and task.coordinator is not None:
            guardrails = self._guardrails.get(tenant, task.coordinator).guardrails
            named = guardrails.allowed_semantic_namespaces
        return list(dict.fromkeys(named or ()))


def _whose(caller: Principal, task: Task) -> str:
    """Whose episodes go along: the assignee's for its coordinator, everybody else's own."""
    return task.assignee if task.assignee and is_coordinator(caller, task) else caller.id
