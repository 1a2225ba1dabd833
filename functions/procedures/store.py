"""Reads and writes of workflows: one item each, with the sums of outcomes."""

from collections.abc import Iterable, Iterator

from functions.platform.bounded_pages import WHOLE, WantedPage
from functions.platform.idempotency import RequestToken
from functions.platform.item_types import LEARNED_WORKFLOW, OUTCOME, TASK_TYPE
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.json_text import compress, decompress
from functions.platform.keys import HIGHEST, Key
from functions.platform.limits import IDEMPOTENCY_SECONDS
from functions.platform.newest_first import build_list_attributes, list_items
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import ConditionFailed, Store
from functions.platform.values import read_text
from functions.platform.writes import Write, build_set_expression, delete, put_new, update
from functions.procedures.model import OutcomeStats, Procedure, ProcedureWorkflow, TaskType

_AT_VERSION = "version = :seen AND created_at = :created_at"
_AT_STATS = "successes = :s0 AND failures = :f0 AND base_ms = :b0"


class WorkflowStore(Store):
    """Reads and writes the workflows of all tenants."""

    def get(self, key: Key) -> ProcedureWorkflow | None:
        """Read one workflow: one read."""
        return self._table.find(key, decode_workflow)

    def list_procedure(
        self, tenant: str, procedure: Procedure, wanted: WantedPage = WHOLE
    ) -> Iterator[ProcedureWorkflow]:
        """List a procedure's workflows, newest first."""
        of = LEARNED_WORKFLOW, wanted, tenant
        return map(decode_workflow, list_items(self._table, *of, **procedure._asdict()))

    def list_task_types(
        self, tenant: str, agent_type: str, wanted: WantedPage
    ) -> Iterator[TaskType]:
        """List the task types for which an agent type has workflows, by their names."""
        partition = TASK_TYPE.build_partition(tenant, agent_type=agent_type)
        first = "" if wanted.after is None else f"{wanted.after}\0"
        names = TASK_TYPE.build_sort(name=first), TASK_TYPE.build_sort(name=HIGHEST)
        for row in self._table.query(partition, *names, wanted.read_size):
            if row["workflows"] > 0:
                yield TaskType(TASK_TYPE.parse(row["sk"]), row["workflows"])

    def create(self, tenant: str, key: Key, workflow: ProcedureWorkflow) -> None:
        """Write a new workflow, and count it for its task type."""
        counted = _count_workflow(tenant, workflow, 1)
        listed = build_list_attributes(key[0], workflow.created_at, workflow.workflow_id)
        self._table.transact([put_new(key, _encode(workflow) | listed), counted])

    def replace(
        self, key: Key, seen: ProcedureWorkflow, new: ProcedureWorkflow, records: Iterable[Write]
    ) -> None:
        """Write spec and half-life, and the stats only if they change."""
        item, condition = _encode(new), _AT_VERSION
        values: Item = {"seen": seen.version, "created_at": seen.created_at}
        names = ["spec", "half_life", "version", "updated_at", "written_by"]
        if new.stats != seen.stats:
            names += ["successes", "failures", "outcomes", "base_ms", "half_life_ms"]
            condition += f" AND {_AT_STATS}"
            values |= _seen_stats(seen.stats)
        expression, present = build_set_expression({name: item[name] for name in names})
        self._table.write([update(key, expression, condition, **values, **present), *records])

    def rebase(self, key: Key, seen: OutcomeStats, new: OutcomeStats) -> None:
        """Write the stats with another base."""
        write = update(
            key,
            "SET successes = :successes, failures = :failures, base_ms = :base_ms",
            _AT_STATS,
            successes=new.successes,
            failures=new.failures,
            base_ms=new.base_ms,
            **_seen_stats(seen),
        )
        self._table.update(write)

    def add(self, key: Key, added: OutcomeStats) -> ProcedureWorkflow:
        """Add an outcome and return the workflow after it: one write, safe for concurrent calls."""
        return decode_workflow(self._table.update(_add_stats(key, added)))

    def add_once(self, key: Key, added: OutcomeStats, token: RequestToken, now: int) -> None:
        """Add the outcome of a request with an Idempotency-Key, unless it was added before."""
        marker = OUTCOME.build_key_in(key[0], workflow=key[1], request=token.key.hex())
        attributes = {"token": token.stored, TTL_ATTRIBUTE: now // 1000 + IDEMPOTENCY_SECONDS}
        writes = [put_new(marker, attributes), _add_stats(key, added)]
        try:
            self._table.transact(writes)
        except ConditionFailed as refused:
            earlier = refused.failed.get(marker)
            if earlier is None or not token.matches(earlier["token"]):
                raise

    def delete(
        self, tenant: str, key: Key, seen: ProcedureWorkflow, records: Iterable[Write]
    ) -> None:
        """Delete a workflow and subtract it from the count."""
        expected = {"seen": seen.version, "created_at": seen.created_at}
        counted = _count_workflow(tenant, seen, -1)
        self._table.transact([delete(key, _AT_VERSION, **expected), counted, *records])


def workflow_key(tenant: str, procedure: Procedure, workflow: str) -> Key:
    """Build the key of a workflow's item."""
    return LEARNED_WORKFLOW.build_key(tenant, workflow=workflow, **procedure._asdict())


def _count_workflow(tenant: str, workflow: ProcedureWorkflow, change: int) -> Write:
    """Count workflows of a task type; an item with the count 0 stays, and lists skip it."""
    agent_type, task_type = workflow.procedure
    key = TASK_TYPE.build_key(tenant, agent_type=agent_type, name=task_type)
    return update(key, "ADD workflows :change", change=change)


def _add_stats(key: Key, added: OutcomeStats) -> Write:
    """Add an outcome, weighed for stats of the same base, or without a half-life."""
    condition, values = "attribute_exists(pk) AND attribute_not_exists(half_life_ms)", {}
    if added.half_life_ms is not None:
        condition = "base_ms = :base_ms AND attribute_exists(half_life_ms)"
        values = {"base_ms": added.base_ms}
    more = {"s": added.successes, "f": added.failures, "one": 1}
    expression = "ADD successes :s, failures :f, outcomes :one"
    return update(key, expression, condition, **more, **values)


def _seen_stats(stats: OutcomeStats) -> dict[str, int]:
    return {"s0": stats.successes, "f0": stats.failures, "b0": stats.base_ms}


def _encode(workflow: ProcedureWorkflow) -> Item:
    return {
        **to_attributes(workflow, "procedure", "stats"),
        **to_attributes(workflow.procedure),
        **to_attributes(workflow.stats),
        "spec": compress(workflow.spec),
    }


def decode_workflow(item: Item) -> ProcedureWorkflow:
    return from_attributes(
        ProcedureWorkflow,
        item,
        procedure=from_attributes(Procedure, item),
        spec=read_text(item, lambda: decompress(item["spec"])),
        stats=from_attributes(OutcomeStats, item),
    )
