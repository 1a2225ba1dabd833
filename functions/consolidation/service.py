"""Use cases of consolidations: settings, dry runs, runs, and undoing them."""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize
from functions.consolidation.authority import (
    CHANGE_CONSOLIDATION,
    CONSOLIDATE,
    READ_CONSOLIDATION,
    UNDO_CONSOLIDATION,
)
from functions.consolidation.job import END, Consolidator
from functions.consolidation.model import (
    ConsolidationRules,
    ConsolidationRun,
    ConsolidationSchedule,
    ConsolidationStep,
    ReportedStep,
    TakenStep,
)
from functions.consolidation.requests import ConsolidationSettings
from functions.consolidation.store import ConsolidationStore, build_schedule_write
from functions.facts.authority import UserAccess
from functions.facts.model import Fact
from functions.facts.store import FactStore
from functions.identity.model import Principal
from functions.namespaces.service import Namespaces
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock, limit_time
from functions.platform.errors import NotFound, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.item_types import CONSOLIDATION_RUN
from functions.platform.items import Item
from functions.platform.keys import build_id, encode_timestamp, get_tenant
from functions.platform.limits import MAX_DRY_RUN_FACTS
from functions.platform.retry import retry_on
from functions.platform.run_keys import LAST_SORT_TOKEN
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write

_HOUR = 3_600_000
_REQUEST_SECONDS = 5.0  # that a dry run or the begin of an undo takes
_BUSY = "the consolidation is being changed"


@dataclass(eq=False)
class Consolidation:
    """The consolidations of a caller's tenant.

    Every method raises `AccessDenied` if the caller lacks `memory.admin`, and `NotFound` if there
    is no such consolidation.
    """

    _store: ConsolidationStore
    _consolidator: Consolidator
    _facts: FactStore
    _namespaces: Namespaces
    _audit: AuditTrail
    _clock: Clock

    def get_settings(self, caller: Principal) -> ConsolidationSchedule:
        """Get the settings: one read."""
        authorize(caller, READ_CONSOLIDATION, None)
        return self._store.get_schedule(caller.tenant)

    @retry_on(ConditionFailed, _BUSY)
    def put_settings(self, caller: Principal, new: ConsolidationSettings) -> ConsolidationSchedule:
        """Replace the settings.

        Raises:
            ValidationFailed: a duration is malformed or too short.
        """
        authorize(caller, CHANGE_CONSOLIDATION, None)
        rules = ConsolidationRules(new.every, new.decay_after, new.end_below)
        every, _ = rules.every_ms, rules.decay_ms  # both are checked
        if every is not None and every < _HOUR:
            raise ValidationFailed("every", "must be PT1H or longer, or null")
        before = self._store.get_schedule(caller.tenant)
        next_at = every and self._clock() + every
        after = before._replace(rules=rules, next_at=next_at, revision=before.revision + 1)
        record = self._audit.record(
            caller,
            CHANGE_CONSOLIDATION,
            "consolidation:settings",
            before.rules._asdict(),
            rules._asdict(),
        )
        self._store.write(build_schedule_write(caller.tenant, after), record)
        return after

    def preview(self, caller: Principal) -> tuple[list[ReportedStep], ConsolidationRun]:
        """Preview a consolidation of as many facts as a request can read.

        Returns the steps and the position reached: `after` is `END` if all facts were read.
        """
        authorize(caller, CONSOLIDATE, None)
        rules, run = self._store.get_schedule(caller.tenant).rules, self._build_run()
        steps: list[ConsolidationStep] = []
        has_time = limit_time(_REQUEST_SECONDS)
        while run.after != END and run.examined < MAX_DRY_RUN_FACTS and has_time():
            run = self._consolidator.walk_page(caller.tenant, run, rules, steps.append, has_time)
        users = UserAccess(self._namespaces, caller)
        return [_report(each, each.shown, each.kept, users) for each in steps], run

    @retry_on(ConditionFailed, _BUSY)
    def start(self, caller: Principal, token: RequestToken) -> ConsolidationRun:
        """Start a consolidation, or return the one that is running or that this request started."""
        authorize(caller, CONSOLIDATE, None)
        schedule, run = self._store.get_schedule(caller.tenant), self._build_run(token.key)
        if (started := self._store.get_run(caller.tenant, run.id)) is not None:
            return started
        record = self._audit.record(caller, CONSOLIDATE, f"consolidation:{run.id}")
        return self._start(caller.tenant, schedule, run, record)

    def start_due(self, item: Item) -> bool:
        """Start a consolidation that is due by the tenant's settings."""
        tenant = get_tenant(item["pk"])
        schedule = self._store.get_schedule(tenant)._replace(next_at=None)  # one interval from now
        with suppress(ConditionFailed):  # another worker has started it
            self._start(tenant, schedule, self._build_run())
        return True

    def _start(
        self, tenant: str, schedule: ConsolidationSchedule, run: ConsolidationRun, *records: Write
    ) -> ConsolidationRun:
        last = schedule.last_run and self._store.get_run(tenant, schedule.last_run)
        if last and last.is_at_work:
            run, writes = last, []
        else:
            writes = [self._store.build_run_write(tenant, run)]
        every = schedule.rules.every_ms
        next_at = schedule.next_at or (every and self._clock() + every)
        after = schedule._replace(last_run=run.id, next_at=next_at, revision=schedule.revision + 1)
        self._store.write(build_schedule_write(tenant, after), *writes, *records)
        return run

    def _build_run(self, key: bytes | None = None) -> ConsolidationRun:
        now = self._clock()
        last = encode_timestamp(now) + LAST_SORT_TOKEN
        return ConsolidationRun(
            build_id("cons", key or secrets.token_bytes(16)), "running", now, last
        )

    def get(self, caller: Principal, id: str) -> ConsolidationRun:
        """Get the progress of a consolidation: one read."""
        authorize(caller, READ_CONSOLIDATION, None)
        run = self._store.get_run(caller.tenant, id)
        if run is None:
            raise NotFound("there is no such consolidation")
        return run

    def list_steps(self, caller: Principal, id: str, wanted: WantedPage) -> list[ReportedStep]:
        """List steps of a consolidation with their facts: a call for each hundred of both."""
        found = self._store.list_steps(caller.tenant, id, wanted.after)
        steps = list(islice(found, wanted.read_size))
        refs = dict.fromkeys(ref for each in steps for ref in each.refs)
        facts = self._facts.get_many(caller.tenant, refs)
        users = UserAccess(self._namespaces, caller)
        ids = {ref: each.fact_id for ref, each in facts.items()}
        return [
            _report(
                each,
                [facts[ref] for ref in each.shown if ref in facts],
                ids.get(each.kept or ""),
                users,
            )
            for each in steps
        ]

    @retry_on(ConditionFailed, _BUSY)
    def undo(self, caller: Principal, id: str) -> ConsolidationRun:
        """Undo the steps of a consolidation on facts that were not changed since.

        A running consolidation stops. The request undoes steps for some seconds, the schedule the
        rest.
        """
        authorize(caller, UNDO_CONSOLIDATION, None)
        run = self.get(caller, id)
        record = self._audit.record(caller, UNDO_CONSOLIDATION, f"consolidation:{id}")
        begun = run._replace(status="undoing", undone_after=None, revision=run.revision + 1)
        self._store.write(self._store.build_run_write(caller.tenant, begun), record)
        self._consolidator.resume(
            CONSOLIDATION_RUN.build_key(caller.tenant, run=id), _REQUEST_SECONDS
        )
        return self.get(caller, id)


def _report(
    step: ConsolidationStep | TakenStep, facts: Sequence[Fact], kept: str | None, users: UserAccess
) -> ReportedStep:
    hidden = frozenset(each.fact_id for each in facts if not users.can_read(each.user_id))
    taken = (step.undone, step.position) if isinstance(step, TakenStep) else ()
    return ReportedStep(step.kind, step.reason, facts, hidden, kept, *taken)
