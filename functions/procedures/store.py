"""DynamoDB calls for workflows: one item each, their evidence as numbers that writes add to."""

from collections.abc import Iterator
from dataclasses import dataclass

from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import Key
from functions.platform.procedure_keys import (
    WORKFLOW_PREFIX,
    outcome_item,
    procedures_partition,
    workflow_item,
)
from functions.platform.table import ConditionFailed, Refused, Table
from functions.platform.values import pack, unpack
from functions.platform.writes import Write, delete, put, update
from functions.procedures.model import Evidence, Place, Workflow

_ABSENT = "attribute_not_exists(pk)"
_AS_SEEN = "version = :seen AND created = :created"
_EVIDENCE = "successes = :s0 AND failures = :f0 AND base_ms = :b0"
Prevented = ConditionFailed | Refused
_REMEMBERED = 86_400  # seconds for which a counted outcome is known again


@dataclass(frozen=True, slots=True)
class Addition:
    """What an outcome adds to evidence that is weighed from `base`, or, at None, never fades."""

    successes: int
    failures: int
    base: int | None = None


class WorkflowStore:
    """The workflows of every tenant."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def key(self, tenant: str, place: Place, workflow: str) -> Key:
        """Where a workflow stands."""
        partition = procedures_partition(tenant, place.agent_type, place.task_type)
        return workflow_item(partition, workflow)

    def get(self, at: Key) -> Workflow | None:
        """One workflow: one read."""
        item = self._table.get(at)
        return None if item is None else _workflow(item)

    def all(self, tenant: str, place: Place) -> Iterator[Workflow]:
        """A procedure's workflows: a call per megabyte."""
        partition = procedures_partition(tenant, place.agent_type, place.task_type)
        return map(_workflow, self._table.query(partition, WORKFLOW_PREFIX))

    def create(self, at: Key, new: Workflow) -> None:
        """Raises `ConditionFailed` if there is one already."""
        self._table.put(put(at, _item(new), _ABSENT))

    def replace(self, at: Key, seen: Workflow, new: Workflow) -> None:
        """Writes spec and terms, and the evidence only if it is weighed anew.

        Raises:
            ConditionFailed: the workflow isn't as it was seen any more.
        """
        item, condition = _item(new), _AS_SEEN
        values: Item = {"seen": seen.version, "created": seen.created}
        names = ["spec", "half_text", "version", "updated"]
        if new.evidence != seen.evidence:
            names += ["successes", "failures", "outcomes", "base_ms", "half_life"]
            condition += f" AND {_EVIDENCE}"
            values |= _as_seen(seen.evidence)
        held = [name for name in names if item[name] is not None]
        values |= {name: item[name] for name in held}
        expression = "SET " + ", ".join(f"{name} = :{name}" for name in held)
        gone = ", ".join(name for name in names if item[name] is None)
        expression += f" REMOVE {gone}" if gone else ""
        self._table.update(update(at, expression, condition, **values))

    def renew(self, at: Key, seen: Evidence, new: Evidence) -> None:
        """Writes evidence as seen from a later base.

        Raises:
            ConditionFailed: it isn't as it was seen any more.
        """
        self._table.update(
            update(
                at,
                "SET successes = :successes, failures = :failures, base_ms = :base_ms",
                _EVIDENCE,
                successes=new.successes,
                failures=new.failures,
                base_ms=new.base,
                **_as_seen(seen),
            )
        )

    def add(self, at: Key, addition: Addition) -> Workflow:
        """Adds an outcome: one write, whatever others add meanwhile.

        Raises:
            ConditionFailed: there is no such workflow, or its evidence is weighed from elsewhere.
        """
        return _workflow(self._table.update(_added(at, addition)))

    def add_once(self, at: Key, addition: Addition, token: RequestToken, now: int) -> None:
        """Adds an outcome that came with an Idempotency-Key, together with a note that it did.

        Raises:
            Refused: as `add`, or it has been added before.
        """
        note = {"token": token.stored, "ttl_at": now // 1000 + _REMEMBERED}
        noted = put(outcome_item(at, token.key), note, _ABSENT)
        self._table.transact([noted, _added(at, addition)])

    def noted(self, at: Key, token: RequestToken, prevented: Prevented) -> bool:
        """Whether an outcome was prevented because it has been added before.

        Raises:
            IdempotencyConflict: the key came with another body.
        """
        note = (
            None
            if isinstance(prevented, ConditionFailed)
            else prevented.failed.get(outcome_item(at, token.key))
        )
        return note is not None and token.wrote(note["token"])

    def stood(self, at: Key, prevented: Prevented) -> Workflow | None:
        """The workflow that a prevented write met, without another read."""
        item = (
            prevented.item if isinstance(prevented, ConditionFailed) else prevented.failed.get(at)
        )
        return None if item is None else _workflow(item)

    def delete(self, at: Key, seen: Workflow) -> None:
        """Raises `Refused` if the workflow isn't as it was seen any more."""
        condition = {"seen": seen.version, "created": seen.created}
        self._table.transact([delete(at, _AS_SEEN, **condition)])


def _added(at: Key, addition: Addition) -> Write:
    condition, values = "attribute_exists(pk) AND attribute_not_exists(half_life)", {}
    if addition.base is not None:
        condition, values = (
            "base_ms = :base_ms AND attribute_exists(half_life)",
            {"base_ms": addition.base},
        )
    added = {"s": addition.successes, "f": addition.failures, "one": 1}
    expression = "ADD successes :s, failures :f, outcomes :one"
    return update(at, expression, condition, **added, **values)


def _as_seen(evidence: Evidence) -> dict[str, int]:
    return {"s0": evidence.successes, "f0": evidence.failures, "b0": evidence.base}


def _item(workflow: Workflow) -> Item:
    evidence = workflow.evidence
    return {
        "agent_type": workflow.place.agent_type,
        "task_type": workflow.place.task_type,
        "name": workflow.id,
        "spec": pack(workflow.spec),
        "half_text": workflow.half_life_text,
        "half_life": evidence.half_life,
        "successes": evidence.successes,
        "failures": evidence.failures,
        "outcomes": evidence.outcomes,
        "base_ms": evidence.base,
        "version": workflow.version,
        "created": workflow.created,
        "updated": workflow.updated,
    }


def _workflow(item: Item) -> Workflow:
    return Workflow(
        place=Place(item["agent_type"], item["task_type"]),
        id=item["name"],
        spec=unpack(item["spec"]),
        half_life_text=item.get("half_text"),
        evidence=Evidence(
            item["successes"],
            item["failures"],
            item["outcomes"],
            item["base_ms"],
            item.get("half_life"),
        ),
        version=item["version"],
        created=item["created"],
        updated=item["updated"],
    )
