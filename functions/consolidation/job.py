"""Run consolidations on the schedule: subject by subject, and resumable.

It walks over a tenant's facts, newest first. At the newest fact about a subject, it reads all facts
about the subject, and plans and takes their steps. A step is planned from stored facts, and is
written on condition of their versions, so a page that is repeated after a crash changes nothing
twice.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from functions.audit.service import AuditTrail
from functions.consolidation.authority import CONSOLIDATE
from functions.consolidation.model import (
    ConsolidationRules,
    ConsolidationRun,
    ConsolidationStep,
    TakenStep,
)
from functions.consolidation.rules import plan_steps
from functions.consolidation.store import ConsolidationStore, restore
from functions.facts.model import Fact, FactQuery
from functions.facts.rules import add_change
from functions.facts.store import FactStore
from functions.identity.model import SERVICE
from functions.platform.bounded_pages import Examined, WantedPage, select_shown
from functions.platform.clock import Clock, HasTime, limit_time
from functions.platform.item_types import CONSOLIDATION_RUN
from functions.platform.keys import Key, get_tenant
from functions.platform.limits import MAX_CONSOLIDATED_TOGETHER, MAX_GET_ITEMS
from functions.platform.writes import Write

END = ""
"""The position behind all facts."""
_ALL = FactQuery()
_SHOWN = ("confidence", "learned_count", "valid_until", "merged_into")  # in the audit log
TakeStep = Callable[[ConsolidationStep], object]


@dataclass(eq=False)
class Consolidator:
    """Consolidates the facts of a tenant, and undoes it."""

    _store: ConsolidationStore
    _facts: FactStore
    _audit: AuditTrail
    _clock: Clock

    def resume(self, key: Key, seconds: float) -> bool:
        """Continue a run for some seconds; return whether it is finished."""
        tenant, has_time = get_tenant(key[0]), limit_time(seconds)
        run = self._store.get_run(tenant, CONSOLIDATION_RUN.parse(key[1]))
        rules = self._store.get_schedule(tenant).rules
        while run is not None and run.is_at_work:
            if not has_time():
                return False
            if run.status == "undoing":
                new = self._undo_page(tenant, run)
            else:
                new = self._consolidate_page(tenant, run, rules, has_time)
            new = new._replace(revision=run.revision + 1)
            if not self._store.save(tenant, new):
                return True  # another worker continues
            run = new
        return True

    def _consolidate_page(
        self, tenant: str, run: ConsolidationRun, rules: ConsolidationRules, has_time: HasTime
    ) -> ConsolidationRun:
        def take(step: ConsolidationStep) -> None:
            self._store.take(tenant, run, step, self._build_record(tenant, step))

        new = self.walk_page(tenant, run, rules, take, has_time)
        is_done = new.after == END
        return new._replace(
            status="done" if is_done else "running", finished_at=self._clock() if is_done else None
        )

    def walk_page(
        self,
        tenant: str,
        run: ConsolidationRun,
        rules: ConsolidationRules,
        take: TakeStep,
        has_time: HasTime,
    ) -> ConsolidationRun:
        """Examine the next hundred facts, and take the steps that are planned for them.

        Returns the position reached; at the end of the facts, `after` is `END`.
        """
        wanted = WantedPage(MAX_GET_ITEMS, after=run.after or run.last)
        page = list(islice(self._facts.list_newest(tenant, _ALL, wanted), MAX_GET_ITEMS))
        single = self._facts.list_single_valued(tenant)
        subjects: set[str] = set()
        within, after = run.within, run.after
        for position, fact in page:
            is_new = fact is not None and fact.subject not in subjects
            if fact is not None and is_new and self._facts.is_newest(tenant, fact, run.last):
                for chunk in self._list_chunks(tenant, fact, within or run.last):
                    if not has_time():
                        return run._replace(after=after, within=within)
                    for step in plan_steps(select_shown(chunk), single, rules, self._clock()):
                        take(step)
                    within = chunk[-1].position
            within, after = None, position
            subjects |= set() if fact is None else {fact.subject}
            run = run._replace(examined=run.examined + (fact is not None))
        return run._replace(after=END if len(page) < MAX_GET_ITEMS else after, within=None)

    def _list_chunks(self, tenant: str, fact: Fact, before: str) -> Iterator[list[Examined[Fact]]]:
        """Read the facts about a subject, in parts; facts of one part are compared."""
        wanted = WantedPage(MAX_GET_ITEMS, after=before)
        found = self._facts.list_newest(tenant, FactQuery(subject=fact.subject), wanted)
        while chunk := list(islice(found, MAX_CONSOLIDATED_TOGETHER)):
            yield chunk

    def _undo_page(self, tenant: str, run: ConsolidationRun) -> ConsolidationRun:
        steps = list(
            islice(self._store.list_steps(tenant, run.id, run.undone_after), MAX_GET_ITEMS)
        )
        for step in steps:
            self._undo(tenant, run, step)
        if len(steps) < MAX_GET_ITEMS:
            return run._replace(status="undone", finished_at=self._clock())
        return run._replace(undone_after=steps[-1].position)

    def _undo(self, tenant: str, run: ConsolidationRun, step: TakenStep) -> None:
        """Restore the facts of a step that were not changed since."""
        now, found = self._clock(), self._facts.get_many(tenant, step.refs)
        restored = [
            (fact, add_change(restore(fact, before), "undone", now, SERVICE.id))
            for ref, version, before in zip(step.refs, step.versions, step.before, strict=True)
            if (fact := found.get(ref)) is not None and fact.version == version
        ]
        if restored and not step.undone:
            self._store.undo(tenant, run.id, step, restored)

    def _build_record(self, tenant: str, step: ConsolidationStep) -> Write:
        """Build the audit record of a step: the first change, without the fact's statement."""
        before, after = step.changes[0]
        target = f"fact:{step.kept or before.fact_id}"
        return self._audit.record_of(
            SERVICE,
            tenant,
            CONSOLIDATE,
            target,
            _show(before),
            _show(after) | {"step": step.kind, "reason": step.reason},
        )


def _show(fact: Fact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in _SHOWN}
