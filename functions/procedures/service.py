"""Use cases of procedures: select workflows for types of tasks (ADR-043 Tier 4)."""

from collections.abc import Iterator
from random import Random
from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action
from functions.identity.model import Principal
from functions.platform.bounded_pages import BoundedPage, WantedPage, read_page
from functions.platform.clock import Clock, parse_milliseconds
from functions.platform.errors import NotFound, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import dumps_checked
from functions.platform.keys import Key
from functions.platform.limits import MAX_SPEC_BYTES
from functions.platform.retry import Backoff, retry_on
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.procedures import rules
from functions.procedures.authority import DELETE_WORKFLOW, WRITE_WORKFLOW
from functions.procedures.model import (
    OutcomeStats,
    Procedure,
    ProcedureWorkflow,
    TaskType,
    WorkflowStats,
)
from functions.procedures.requests import NewWorkflow
from functions.procedures.store import WorkflowStore, decode_workflow, workflow_key

_ATTEMPTS = 20
_BUSY = "others are writing this workflow"
_WITHOUT_HALF_LIFE = OutcomeStats(0, 0, 0, 0)


class Procedures:
    """The procedures of a caller's tenant, open to all of its principals.

    Methods that take an `id` raise `NotFound` if the procedure has no such workflow.
    """

    def __init__(self, store: WorkflowStore, audit: AuditTrail, clock: Clock) -> None:
        self._store = store
        self._audit = audit
        self._clock = clock

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def put(
        self,
        caller: Principal,
        procedure: Procedure,
        id: str,
        new: NewWorkflow,
        version: int | None,
    ) -> tuple[WorkflowStats, bool]:
        """Set a workflow's spec; return the workflow, and whether it is new.

        The statistics stay, unless `new.reset`; the same spec changes nothing. A new workflow
        begins with the statistics `new.learned`.

        Raises:
            ValueTooLarge: the spec has over `limits.MAX_SPEC_BYTES` of compact JSON.
            NotFound: If-Match names a version, and the workflow does not exist.
            VersionMismatch: If-Match names another version than the present one.
        """
        spec = dumps_checked(new.spec, "spec", MAX_SPEC_BYTES)
        half_life = parse_milliseconds(new.half_life, "half_life")
        key = workflow_key(caller.tenant, procedure, id)
        present, now = self._get(key, version), self._clock()
        if present is None:
            stats = rules.build_stats(new.learned, now, half_life)
            workflow = ProcedureWorkflow(
                procedure, id, spec, stats, 1, now, now, new.half_life, caller.id
            )
            self._store.create(caller.tenant, key, workflow)
            return self._describe(workflow), True
        after = rules.revise_workflow(present, spec, new.half_life, half_life, now, reset=new.reset)
        if after is not present:
            records = self._record(caller, WRITE_WORKFLOW, present)
            self._store.replace(key, present, after._replace(written_by=caller.id), records)
        return self._describe(after), False

    def get(self, caller: Principal, procedure: Procedure, id: str) -> WorkflowStats:
        """Get one workflow: one read."""
        return self._describe(self._existing(workflow_key(caller.tenant, procedure, id)))

    def list_page(
        self, caller: Principal, procedure: Procedure, wanted: WantedPage
    ) -> BoundedPage[WorkflowStats]:
        """List a page of a procedure's workflows, newest first."""
        found = self._store.list_procedure(caller.tenant, procedure, wanted)
        return read_page(wanted, map(self._describe, found))

    def list_task_types(
        self, caller: Principal, agent_type: str, wanted: WantedPage
    ) -> Iterator[TaskType]:
        """List the types of tasks for which an agent type has workflows, by name."""
        return self._store.list_task_types(caller.tenant, agent_type, wanted)

    def select(self, caller: Principal, procedure: Procedure, seed: int | None) -> WorkflowStats:
        """Select the workflow to try next: one query.

        Args:
            seed: makes the selection repeatable while the stats stay the same.

        Raises:
            NotFound: the procedure has no workflows.
        """
        workflows = self._store.list_procedure(caller.tenant, procedure)
        by_id = sorted(workflows, key=lambda each: each.workflow_id)
        if not by_id:
            raise NotFound("there are no workflows for this type of task; create one by PUT")
        return rules.select_workflow(by_id, self._clock(), Random(seed))  # noqa: S311 - a sample

    def record_outcome(
        self,
        caller: Principal,
        procedure: Procedure,
        id: str,
        score: float,
        token: RequestToken | None,
    ) -> WorkflowStats:
        """Add an outcome to a workflow's stats, by one atomic addition.

        Args:
            score: from 0, a failure, to 1, a success.
            token: of the Idempotency-Key; with it, the outcome is counted once.

        Raises:
            IdempotencyConflict: the key came with another score.
        """
        key = workflow_key(caller.tenant, procedure, id)
        stats, backoff = _WITHOUT_HALF_LIFE, Backoff(_BUSY, attempts=_ATTEMPTS)
        while True:
            try:
                added = self._weigh(key, stats, score)
                if token is None:
                    return self._describe(self._store.add(key, added))
                self._store.add_once(key, added, token, self._clock())
                return self._describe(self._existing(key))
            except ConditionFailed as conflict:
                item = conflict.failed.get(key)
                if item is None:
                    raise _not_found() from conflict
                if stats is not _WITHOUT_HALF_LIFE:  # else the half-life caused it
                    backoff.wait()
                stats = decode_workflow(item).stats

    def _weigh(self, key: Key, stats: OutcomeStats, score: float) -> OutcomeStats:
        now = self._clock()
        if rules.needs_rebase(stats, now):
            rebased = rules.rebase(stats, now, stats.half_life_ms)
            self._store.rebase(key, stats, rebased)
            stats = rebased
        successes, failures = rules.weigh_outcome(stats, score, now)
        return stats._replace(successes=successes, failures=failures)

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def delete(self, caller: Principal, procedure: Procedure, id: str, version: int | None) -> None:
        """Delete a workflow with its stats.

        Raises:
            VersionMismatch: If-Match names another version than the present one.
        """
        key = workflow_key(caller.tenant, procedure, id)
        present = self._get(key, version)
        if present is None:
            raise _not_found()
        records = self._record(caller, DELETE_WORKFLOW, present)
        self._store.delete(caller.tenant, key, present, records)

    def _record(
        self, caller: Principal, action: Action[Any], present: ProcedureWorkflow
    ) -> list[Write]:
        author, target = present.written_by, "/".join((*present.procedure, present.workflow_id))
        before = {"written_by": author, "version": present.version}
        return self._audit.record_foreign(caller, author, action, f"procedure:{target}", before)

    def _describe(self, workflow: ProcedureWorkflow) -> WorkflowStats:
        return rules.compute_stats(workflow, self._clock())

    def _existing(self, key: Key) -> ProcedureWorkflow:
        workflow = self._store.get(key)
        if workflow is None:
            raise _not_found()
        return workflow

    def _get(self, key: Key, version: int | None) -> ProcedureWorkflow | None:
        if version is None:
            return self._store.get(key)
        workflow = self._existing(key)
        if workflow.version != version:
            raise VersionMismatch.of("the workflow", workflow.version)
        return workflow


def _not_found() -> NotFound:
    return NotFound("there is no such workflow; PUT it first")
