"""Use cases on coordinators' guardrails: read, change, enforce (RFC-0015 §6.6; contract §5).

A guardrail holds at once. A task that is registered or adopted comes under it in its own
transaction, and so does an agent that is assigned. A changed guardrail is then carried to the
coordinator's open tasks and their assignees, one by one. Restrictions are lifted afterwards, so
that a crash in between leaves an agent restricted too much, never too little.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.keys import Key
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.tasks import guardrail_store
from functions.tasks.assignment_store import AssignmentStore
from functions.tasks.guardrail_store import GuardrailStore
from functions.tasks.guardrails import CoordinatorGuardrails, restrict_task
from functions.tasks.model import Task
from functions.tasks.requests import Guardrails
from functions.tasks.store import TaskStore

_CONFLICT = "others are changing the same tasks and guardrails"
LimitEpisodic = Callable[[str, str, int | None, int], None]


@dataclass(frozen=True, slots=True)
class GuardedTask:
    """A task as guardrails leave it, and what its transaction must write and check for that."""

    task: Task
    writes: tuple[Write, ...] = ()

    @property
    def keys(self) -> set[Key]:
        """The items that these writes need unchanged."""
        return {write.key for write in self.writes}


class GuardrailService:
    """Coordinators' guardrails, and their enforcement.

    Args:
        store: holds guardrails and restrictions.
        tasks: holds the tasks.
        assignments: lists them by assignee.
        limit_episodic: called with tenant, agent, limit (None: no limit) and version; bounds an
            agent's capacity, where no newer version has done so.
        clock: gives the time in epoch ms.
    """

    def __init__(
        self,
        store: GuardrailStore,
        tasks: TaskStore,
        assignments: AssignmentStore,
        limit_episodic: LimitEpisodic,
        clock: Clock,
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._assignments = assignments
        self._limit_episodic = limit_episodic
        self._clock = clock

    def get(self, tenant: str, coordinator: str) -> CoordinatorGuardrails:
        """Read a coordinator's guardrails; none, at version 0, where nobody has set any."""
        return self._store.get(tenant, coordinator)

    def change(
        self,
        caller: Principal,
        coordinator: str,
        asked: Guardrails,
        version: int | None,
        token: RequestToken,
    ) -> CoordinatorGuardrails:
        """Change guardrails; when this returns, they hold for every open task and assignee.

        Raises:
            VersionMismatch: `version` is given and isn't the present one.
        """
        changed = self._replace(caller.tenant, coordinator, asked, version, token)
        self._enforce(caller.tenant, coordinator)
        return changed

    def _replace(
        self,
        tenant: str,
        coordinator: str,
        asked: Guardrails,
        version: int | None,
        token: RequestToken,
    ) -> CoordinatorGuardrails:
        backoff = Backoff("others are changing these guardrails")
        while True:
            present = self._store.get(tenant, coordinator)
            if token.matches(present.request):
                return present
            if version not in (None, present.version):
                raise VersionMismatch(
                    f"the guardrails are at version {present.version}; read them and try again",
                    version=present.version,
                )
            new = CoordinatorGuardrails(
                coordinator=coordinator,
                guardrails=replace(present.guardrails, **asked.model_dump(exclude_unset=True)),
                version=present.version + 1,
                updated=self._clock(),
                request=token.stored,
            )
            try:
                self._store.replace(tenant, new)
                return new
            except ConditionFailed:
                backoff.wait()

    def guard(self, tenant: str, old: Task | None, new: Task) -> GuardedTask:
        """Put a task that is registered, adopted, assigned or ended under its guardrails.

        Args:
            tenant: the task's.
            old: the task before, None if it is registered.
            new: the task as it is to be.
        """
        if new.coordinator is None or (new.ended is not None and old is None):
            return GuardedTask(new)
        if new.ended is not None:
            row = guardrail_store.unlist_under_coordinator(tenant, new.coordinator, new.id)
            return GuardedTask(new, (row,))
        is_adopted = old is None or old.coordinator != new.coordinator
        if not is_adopted and old is not None and old.assignee == new.assignee:
            return GuardedTask(new)
        guardrails, restrictions = self._store.get_with_restrictions(
            tenant, new.coordinator, new.assignee
        )
        writes = [guardrail_store.check_guardrails(tenant, guardrails)]
        if is_adopted:
            row = guardrail_store.list_under_coordinator(tenant, new.coordinator, new.id)
            writes.append(row)
        if new.assignee is not None and guardrails.version:
            writes.append(
                guardrail_store.add_restrictions(
                    tenant, new.assignee, restrictions, guardrails.restrictions
                )
            )
        return GuardedTask(restrict_task(new, guardrails.guardrails), tuple(writes))

    def update_assignees(self, tenant: str, old: Task | None, new: Task) -> None:
        """Lift or bound what a change of a task's assignee, or its end, means for agents.

        An agent without restrictions has nothing to lift: one read.
        """
        if new.coordinator is None:
            return
        agents = {new.assignee} if new.ended is not None or old is None else set()
        if old is not None and old.assignee != new.assignee:
            agents = {old.assignee, new.assignee}
        for agent in agents - {None}:
            if agent is not None and self._store.get_restrictions(tenant, agent).version:
                self._update_restrictions(tenant, agent)

    def _enforce(self, tenant: str, coordinator: str) -> None:
        """Bring a coordinator's open tasks and their assignees under its present guardrails."""
        ids = self._store.list_task_ids(tenant, coordinator)
        tasks = [self._restrict_stored_task(tenant, coordinator, task_id) for task_id in ids]
        open_tasks = [task for task in tasks if task is not None and task.ended is None]
        for agent in {task.assignee for task in open_tasks if task.assignee is not None}:
            self._update_restrictions(tenant, agent)

    def _restrict_stored_task(self, tenant: str, coordinator: str, task_id: str) -> Task | None:
        backoff = Backoff(_CONFLICT)
        while True:
            # in this order: guardrails that are read after the task are never older than its own
            task = self._tasks.get(tenant, task_id)
            guardrails = self._store.get(tenant, coordinator).guardrails
            if task is None or task.ended is not None:
                return task
            restricted = restrict_task(task, guardrails)
            if restricted == task:
                return task
            try:
                return self._tasks.restrict(tenant, task, restricted)
            except ConditionFailed:
                backoff.wait()

    def _update_restrictions(self, tenant: str, agent: str) -> None:
        """Make an agent's restrictions follow from its open tasks.

        Reads again after each write, so that the last one to read has seen every change.
        """
        backoff = Backoff(_CONFLICT)
        while True:
            present = self._store.get_restrictions(tenant, agent)
            wanted = self._store.merged_restrictions(tenant, self._coordinators(tenant, agent))
            if present.equals(wanted):
                if present.version:
                    self._limit_episodic(tenant, agent, present.max_episodic, present.version)
                return
            try:
                new = replace(wanted, version=present.version + 1)
                self._store.replace_restrictions(tenant, agent, new)
            except ConditionFailed:
                backoff.wait()

    def _coordinators(self, tenant: str, agent: str) -> set[str]:
        """The coordinators of the open tasks that are assigned to an agent."""
        assigned = self._assignments.list_of_agent(tenant, agent)
        return {each.coordinator for each in assigned if each.coordinator is not None}
