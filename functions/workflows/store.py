"""Reads and writes of what is known of a workflow: its seed, and the file that was applied last."""

import secrets
from typing import NamedTuple

from functions.platform.items import from_attributes, to_attributes
from functions.platform.table import ConditionFailed, Table
from functions.platform.task_keys import build_workflow_key
from functions.platform.writes import ABSENT, Write, put

_SEED_BYTES = 16


class AppliedWorkflow(NamedTuple):
    """A workflow of a tenant.

    Attributes:
        name: the workflow's.
        seed: what the ids of its tasks are made from; random, and in no answer.
        digest: of the file that was applied last; None before the first one is.
        request: the token of the request that applied it.
        version: of that file.
        applied: when it was applied, in epoch ms.
    """

    name: str
    seed: bytes
    digest: bytes | None = None
    request: bytes | None = None
    version: str | None = None
    applied: int | None = None


class AppliedWorkflowStore:
    """The workflows of all tenants."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, tenant: str, workflow: str) -> AppliedWorkflow | None:
        """Read a workflow: one call."""
        item = self._table.get(build_workflow_key(tenant, workflow))
        return None if item is None else from_attributes(AppliedWorkflow, item)

    def create(self, tenant: str, workflow: str) -> AppliedWorkflow:
        """Store a workflow with a random seed, unless another request has; return what is kept."""
        new = AppliedWorkflow(workflow, secrets.token_bytes(_SEED_BYTES))
        try:
            self._table.put(_put(tenant, new, ABSENT))
        except ConditionFailed as failed:
            return new if failed.item is None else from_attributes(AppliedWorkflow, failed.item)
        return new

    def replace(self, tenant: str, workflow: AppliedWorkflow, record: Write) -> None:
        """Store which file was applied last, together with its audit record."""
        self._table.transact([_put(tenant, workflow), record])


def _put(tenant: str, workflow: AppliedWorkflow, condition: str | None = None) -> Write:
    key = build_workflow_key(tenant, workflow.name)
    return put(key, to_attributes(workflow), condition)
