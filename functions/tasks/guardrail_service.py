"""Use cases on coordinators' guardrails: read, change, enforce (RFC-0015 §6.6).

A task that is registered or adopted comes under its coordinator's guardrails in its own
transaction, and so does an agent that is assigned. Changed guardrails are then carried to the
coordinator, its open tasks and their assignees, each by itself: none of them keeps the others from
it. Until that is done they are due, so that the schedule finishes what a crash interrupts.
Restrictions are lifted, and capacities limited, afterwards: a retry or the schedule does what a
crash leaves.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize
from functions.identity.model import Principal
from functions.platform import item_types
from functions.platform.clock import Clock
from functions.platform.errors import ServiceError, Unavailable, VersionMismatch
from functions.platform.idempotency import RequestToken, Verdict
from functions.platform.items import Item
from functions.platform.keys import Key, get_tenant
from functions.platform.observability import log_unexpected
from functions.platform.parallel import run_parallel
from functions.platform.retry import Backoff, retry_on
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.tasks import guardrail_store
from functions.tasks.assignment_store import AssignmentStore
from functions.tasks.authority import CHANGE_GUARDRAILS, READ_GUARDRAILS
from functions.tasks.guardrail_store import GuardrailStore
from functions.tasks.guardrails import CoordinatorGuardrails, change_guardrails, restrict_task
from functions.tasks.model import Task
from functions.tasks.requests import GuardrailsChange
from functions.tasks.store import TaskStore

_CONFLICT = "others are changing the same tasks and guardrails"
LimitEpisodic = Callable[[str, str, int | None, int], None]


class GuardedTask(NamedTuple):
    """A task as guardrails leave it, and what its transaction must write and check for that."""

    task: Task
    writes: tuple[Write, ...] = ()

    @property
    def keys(self) -> set[Key]:
        """The items that these writes need unchanged."""
        return {write.key for write in self.writes}


@dataclass(eq=False)
class GuardrailService:
    """Coordinators' guardrails, and their enforcement.

    Args:
        limit_episodic: called with tenant, agent, limit (None: no limit) and version; bounds an
            agent's capacity, where no newer version has done so.
    """

    _store: GuardrailStore
    _tasks: TaskStore
    _assignments: AssignmentStore
    _limit_episodic: LimitEpisodic
    _audit: AuditTrail
    _clock: Clock

    def get(self, tenant: str, coordinator: str) -> CoordinatorGuardrails:
        """Read a coordinator's guardrails; none, at version 0, where nobody has set any."""
        return self._store.get(tenant, coordinator)

    def show(self, caller: Principal, coordinator: str) -> CoordinatorGuardrails:
        """Read guardrails for a caller.

        Raises:
            AccessDenied: the caller is neither the coordinator nor has `memory.admin`.
        """
        authorize(caller, READ_GUARDRAILS, coordinator)
        return self.get(caller.tenant, coordinator)

    def change(
        self,
        caller: Principal,
        coordinator: str,
        asked: GuardrailsChange,
        version: int | None,
        token: RequestToken,
    ) -> CoordinatorGuardrails:
        """Change guardrails.

        When this returns, they hold for the coordinator, its open tasks and their assignees.

        Raises:
            AccessDenied: the caller lacks `memory.admin`.
            VersionMismatch: `version` is given and isn't the present one, or the request was
                carried out, and the guardrails were changed since.
            ValueTooLarge: those that aren't of memory have more than 16 KB together.
            Unavailable: not all of that could be done by now; the schedule finishes it.
        """
        authorize(caller, CHANGE_GUARDRAILS, coordinator)
        changed = self._replace(caller, coordinator, asked, version, token)
        if not self.enforce(caller.tenant, coordinator):
            raise Unavailable("the guardrails are stored, and will hold everywhere in a minute")
        return changed

    @retry_on(ConditionFailed, "others are changing these guardrails")
    def _replace(
        self,
        caller: Principal,
        coordinator: str,
        asked: GuardrailsChange,
        version: int | None,
        token: RequestToken,
    ) -> CoordinatorGuardrails:
        tenant, given = caller.tenant, asked.guardrails.model_dump(exclude_unset=True)
        present = self._store.get(tenant, coordinator)
        verdict = token.judge(present.requests)
        if verdict is Verdict.REPLAY:
            return present
        if verdict is Verdict.SUPERSEDED or version not in (None, present.version):
            raise VersionMismatch.of("the set of guardrails", present.version)
        now = self._clock()
        new = change_guardrails(present, given, now, token)
        record = self._audit.record(
            caller,
            CHANGE_GUARDRAILS,
            f"coordinator:{coordinator}",
            {name: present.members.get(name) for name in given},
            given,
        )
        self._store.replace(tenant, new, now, record)
        return new

    def guard(self, tenant: str, old: Task | None, new: Task) -> GuardedTask:
        """Put a task that is registered, adopted, assigned or ended under its guardrails.

        Args:
            old: the task before, None if it is registered.
            new: the task as it is to be.
        """
        if new.coordinator is None or new.completed_at is not None:
            rows = guardrail_store.list_under_coordinators(tenant, old, new)
            return GuardedTask(replace(new, delegates=new.delegates or ()), tuple(rows))
        if old is not None and (old.coordinator, old.assigned_agent) == (
            new.coordinator,
            new.assigned_agent,
        ):
            return GuardedTask(new)
        every, restrictions = self._store.get_with_restrictions(
            tenant, new.guarding_coordinators, new.assigned_agent
        )
        new = _guard(new, every)
        writes = [guardrail_store.check_guardrails(tenant, each) for each in every]
        writes += guardrail_store.list_under_coordinators(tenant, old, new)
        if new.assigned_agent is not None and any(each.version for each in every):
            more = [each.restrictions for each in every]
            writes.append(
                guardrail_store.add_restrictions(tenant, new.assigned_agent, restrictions, more)
            )
        return GuardedTask(new, tuple(writes))

    def update_assignees(self, tenant: str, old: Task | None, new: Task) -> None:
        """Lift or bound what a change of a task's assignee means for agents.

        A registration lifts nothing, and has added its restrictions: none of the agent's other
        tasks is read.
        """
        if old is None:
            self._limit_assignee(tenant, new)
            return
        self._update_existing(tenant, self.list_affected(tenant, old, new))

    def update_members(self, tenant: str, task: Task) -> None:
        """Do for a task's assignees, present and former, what a crash may have left undone."""
        self.update_agents(tenant, filter(None, (task.assigned_agent, *task.leaving)))

    def update_agents(self, tenant: str, agents: Iterable[str]) -> None:
        """Make restrictions follow from the open tasks of those of some agents that have any."""
        self._update_existing(tenant, _name_restrictions(tenant, agents))

    def _update_existing(self, tenant: str, affected: Mapping[Key, str]) -> None:
        self.update_affected(tenant, affected, self._store.get_items(affected))

    def _limit_assignee(self, tenant: str, task: Task) -> None:
        if task.coordinator is None or task.assigned_agent is None:
            return
        present = self._store.get_restrictions(tenant, task.assigned_agent)
        if present.version:
            self._limit_episodic(tenant, task.assigned_agent, present.max_episodic, present.version)

    def list_affected(self, tenant: str, old: Task, new: Task) -> dict[Key, str]:
        """List the agents whose restrictions a change or the end of a task may lift or bound.

        Returns:
            the agents, by the keys of the items of their restrictions.
        """
        if new.coordinator is None:
            return {}
        agents = {new.assigned_agent} if new.completed_at is not None else set()
        if old.assigned_agent != new.assigned_agent:
            agents = {old.assigned_agent, new.assigned_agent}
        elif old.coordinator != new.coordinator:
            agents = {new.assigned_agent}
        return _name_restrictions(tenant, filter(None, agents))

    def update_affected(
        self, tenant: str, affected: Mapping[Key, str], found: Container[Key]
    ) -> None:
        """Make restrictions follow from the open tasks of the agents that have any.

        Args:
            affected: as `list_affected` gave them.
            found: those of these items that exist, read after the change.
        """
        for key, agent in affected.items():
            if key in found:
                self._update_restrictions(tenant, agent)

    def enforce(self, tenant: str, coordinator: str) -> bool:
        """Bring a coordinator, its open tasks and their assignees under its present guardrails.

        Each by itself: one that can't be changed keeps no other from it.

        Returns:
            whether all of them are under the guardrails now; else these stay due.
        """
        version = self._store.get(tenant, coordinator).version
        task_ids = self._assignments.list_coordinated(tenant, coordinator)
        tasks = [
            task for task in self._tasks.get_many(tenant, task_ids) if task.completed_at is None
        ]
        agents = {coordinator} | {
            task.assigned_agent for task in tasks if task.assigned_agent is not None
        }
        steps: list[Callable[[], object]] = [
            *(partial(self._update_restrictions, tenant, agent) for agent in sorted(agents)),
            *(partial(self._restrict_stored_task, tenant, task.id) for task in tasks),
        ]
        if not all(run_parallel([partial(_is_done, step) for step in steps])):
            return False
        self._store.complete(tenant, coordinator, version)
        return True

    def resume(self, item: Item) -> bool:
        """Do the same for the item of guardrails that are due."""
        return self.enforce(get_tenant(item["pk"]), item["coordinator"])

    @retry_on(ConditionFailed, _CONFLICT)
    def _restrict_stored_task(self, tenant: str, task_id: str) -> Task | None:
        # in this order: guardrails that are read after the task are never older than its own
        task = self._tasks.get(tenant, task_id)
        if task is None or task.completed_at is not None:
            return task
        every, _ = self._store.get_with_restrictions(tenant, task.guarding_coordinators)
        restricted = restrict_task(task, *(each.guardrails for each in every))
        if restricted == task:
            return task
        return self._tasks.restrict(tenant, task, restricted)

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
                new = wanted._replace(version=present.version + 1)
                self._store.replace_restrictions(tenant, agent, new)
            except ConditionFailed:
                backoff.wait()

    def _coordinators(self, tenant: str, agent: str) -> set[str]:
        """Whose guardrails bind an agent: its own, and those of its open tasks' coordinators."""
        assigned = self._assignments.list_of_agent(tenant, agent)
        return {agent}.union(*(each.guarding_coordinators for each in assigned))


def _guard(task: Task, every: Sequence[CoordinatorGuardrails]) -> Task:
    """Return a task under the guardrails of its coordinator, the first, and former ones.

    Former coordinators without guardrails no longer count.
    """
    own, *former = every
    guarded = replace(
        task,
        delegates=own.default_delegates if task.delegates is None else task.delegates,
        guarded_by=tuple(each.coordinator_id for each in former if each.version),
    )
    return restrict_task(guarded, *(each.guardrails for each in every))


def _name_restrictions(tenant: str, agents: Iterable[str]) -> dict[Key, str]:
    return {item_types.RESTRICTIONS.build_key(tenant, agent=agent): agent for agent in agents}


def _is_done(step: Callable[[], object]) -> bool:
    try:
        step()
    except ServiceError as error:
        log_unexpected(error, step="guardrails")
        return False
    return True
