"""Reads and writes of consolidations: settings, runs and steps, in one partition a tenant."""

from collections.abc import Iterator, Sequence
from functools import partial
from zlib import crc32

from functions.consolidation.model import (
    ConsolidationRules,
    ConsolidationRun,
    ConsolidationSchedule,
    ConsolidationStep,
    TakenStep,
)
from functions.consolidation.rules import DEFAULT_RULES
from functions.facts.model import Fact
from functions.facts.store import FactStore
from functions.platform.clock import Clock
from functions.platform.item_types import CONSOLIDATION, CONSOLIDATION_RUN, CONSOLIDATION_STEP
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.json_text import dumps, loads
from functions.platform.keys import HIGHEST, build_due_attributes, hash_fact, hash_name
from functions.platform.limits import CONSOLIDATION_RETENTION_DAYS
from functions.platform.schema import DUE_ATTRIBUTE, TTL_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.writes import Write, check, put_new, put_version, update

_KEPT_S = CONSOLIDATION_RETENTION_DAYS * 86_400
_PAGE = 100
_APART = ("changes", "version")  # of a fact: never set back


class ConsolidationStore:
    """The consolidations of all tenants."""

    def __init__(self, table: Table, facts: FactStore, clock: Clock) -> None:
        self._table = table
        self._facts = facts
        self._clock = clock

    def get_schedule(self, tenant: str) -> ConsolidationSchedule:
        """Read a tenant's settings: one read."""
        item = self._table.get(CONSOLIDATION.build_key(tenant))
        if item is None:
            return ConsolidationSchedule(DEFAULT_RULES)
        least = float(item["rules"]["end_below"])
        rules = from_attributes(ConsolidationRules, item["rules"], end_below=least)
        return ConsolidationSchedule(
            rules, item.get(DUE_ATTRIBUTE), item.get("last_run"), item["revision"]
        )

    def schedule(self, tenant: str) -> None:
        """Schedule a tenant's first consolidation within a week, unless one is scheduled."""
        if self._table.get(CONSOLIDATION.build_key(tenant)) is None:
            spread = crc32(tenant.encode()) % (DEFAULT_RULES.every_ms or 1)
            first = ConsolidationSchedule(DEFAULT_RULES, self._clock() + spread, revision=1)
            self._table.try_write(build_schedule_write(tenant, first))

    def get_run(self, tenant: str, id: str) -> ConsolidationRun | None:
        """Read a run: one read."""
        key = CONSOLIDATION_RUN.build_key(tenant, run=id)
        return self._table.find(key, partial(from_attributes, ConsolidationRun))

    def save(self, tenant: str, run: ConsolidationRun) -> bool:
        """Write the progress of a run; return False if another worker has taken the step."""
        return self._table.try_write(self.build_run_write(tenant, run))

    def write(self, *writes: Write) -> None:
        """Write all or none."""
        self._table.write(writes)

    def build_run_write(self, tenant: str, run: ConsolidationRun) -> Write:
        """Build the write of a run, on the condition that its predecessor is stored."""
        key = CONSOLIDATION_RUN.build_key(tenant, run=run.id)
        due = build_due_attributes(key[0], self._clock() if run.is_at_work else None)
        item = to_attributes(run) | due | {TTL_ATTRIBUTE: run.started_at // 1000 + _KEPT_S}
        return put_version(key, item, run.revision - 1 or None, "revision")

    def take(
        self, tenant: str, run: ConsolidationRun, step: ConsolidationStep, audit: Write
    ) -> bool:
        """Take a step and record it; return False if a fact has changed since it was read."""
        changes = [self._facts.build_change(tenant, *each) for each in step.changes]
        is_running = check(
            CONSOLIDATION_RUN.build_key(tenant, run=run.id), "#status = :running", running="running"
        )
        note = _build_step_write(tenant, run, step)
        return self._table.try_write(*changes, note, audit, is_running)

    def list_steps(self, tenant: str, run: str, after: str | None = None) -> Iterator[TakenStep]:
        """List the steps of a run behind a position: a call for each hundred."""
        partition, prefix = CONSOLIDATION_STEP.build_range(tenant, run=run)
        first = prefix if after is None else f"{prefix}{after}\0"
        items = self._table.query(partition, first, prefix + HIGHEST, _PAGE)
        for item in items:
            before = tuple(loads(item["before"]))
            position = item["sk"].removeprefix(prefix)
            yield from_attributes(TakenStep, item, before=before, position=position)

    def undo(
        self, tenant: str, run: str, step: TakenStep, restored: Sequence[tuple[Fact, Fact]]
    ) -> bool:
        """Restore facts and record it; return False if one has changed since it was read."""
        changes = [self._facts.build_change(tenant, *each) for each in restored]
        key = CONSOLIDATION_STEP.build_key(tenant, run=run, step=step.position)
        note = update(key, "SET undone = :yes", "attribute_exists(pk)", yes=True)
        return self._table.try_write(*changes, note)


def build_schedule_write(tenant: str, schedule: ConsolidationSchedule) -> Write:
    """Build the write of settings, on the condition that their predecessor is stored."""
    key = CONSOLIDATION.build_key(tenant)
    rules = to_attributes(schedule.rules) | {"end_below": repr(schedule.rules.end_below)}
    item: Item = {"rules": rules, "last_run": schedule.last_run, "revision": schedule.revision}
    item |= build_due_attributes(key[0], schedule.next_at)
    return put_version(key, item, schedule.revision - 1 or None, "revision")


def _build_step_write(tenant: str, run: ConsolidationRun, step: ConsolidationStep) -> Write:
    key = CONSOLIDATION_STEP.build_key(
        tenant, run=run.id, step=hash_fact(step.changes[0][0].fact_id)
    )
    first, _ = step.changes[0]
    people = {each for each in (first.subject, first.user_id) if each is not None}
    item: Item = {
        "kind": step.kind,
        "reason": step.reason,
        "refs": [hash_fact(before.fact_id) for before, _ in step.changes],
        "versions": [before.version + 1 for before, _ in step.changes],
        "before": dumps([_find_changed(*each) for each in step.changes]),
        "shown": [hash_fact(each.fact_id) for each in step.shown],
        "kept": step.kept and hash_fact(step.kept),
        "about": [hash_name("person", each) for each in people],
        TTL_ATTRIBUTE: run.started_at // 1000 + _KEPT_S,
    }
    return put_new(key, item)


def _find_changed(before: Fact, after: Fact) -> Item:
    old, new = before._asdict(), after._asdict()
    return {name: old[name] for name in old if old[name] != new[name] and name not in _APART}


def restore(fact: Fact, before: Item) -> Fact:
    """Restore the fields of a fact that a step changed."""
    fields: Item = {
        name: tuple(each) if isinstance(each, list) else each for name, each in before.items()
    }
    return fact._replace(**fields)
