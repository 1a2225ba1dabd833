"""Reads and writes of workflows: the seed, and the file that was applied last."""

from functools import partial
from typing import NamedTuple

from functions.platform import item_types
from functions.platform.items import from_attributes, to_attributes
from functions.platform.table import Store
from functions.platform.writes import ABSENT, Write, put


class AppliedWorkflow(NamedTuple):
    """A workflow of a tenant.

    Attributes:
        seed: what the ids of its tasks are made from; random, and in no answer.
        digest: of the file that was applied last; None while one is being applied.
    """

    name: str
    seed: bytes
    digest: bytes | None = None
    request_token: bytes | None = None
    version: str | None = None


class AppliedWorkflowStore(Store):
    """The workflows of all tenants."""

    def get(self, tenant: str, workflow: str) -> AppliedWorkflow | None:
        """Read a workflow: one call."""
        key = item_types.WORKFLOW.build_key(tenant, workflow=workflow)
        return self._table.find(key, partial(from_attributes, AppliedWorkflow))

    def begin(self, tenant: str, workflow: AppliedWorkflow, *, is_new: bool) -> None:
        """Record that a request applies a file; another request that does so can't finish then."""
        self._table.put(_put(tenant, workflow, ABSENT if is_new else None))

    def finish(self, tenant: str, workflow: AppliedWorkflow, record: Write) -> None:
        """Store which file was applied, together with its audit record."""
        is_alone = "request_token = :seen AND attribute_not_exists(digest)"
        self._table.transact(
            [_put(tenant, workflow, is_alone, seen=workflow.request_token), record]
        )


def _put(
    tenant: str, workflow: AppliedWorkflow, condition: str | None = None, **values: bytes | None
) -> Write:
    key = item_types.WORKFLOW.build_key(tenant, workflow=workflow.name)
    return put(key, to_attributes(workflow), condition, **values)
