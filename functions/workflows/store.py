"""Reads and writes which file of a workflow was applied last."""

from dataclasses import dataclass

from functions.platform.table import Table
from functions.platform.task_keys import build_workflow_key
from functions.platform.writes import put


@dataclass(frozen=True, slots=True)
class AppliedFile:
    """The file that was applied last: its digest, the request's token and the time in epoch ms."""

    digest: bytes
    request: bytes
    applied: int


class AppliedFileStore:
    """The last applied file of each workflow of a tenant."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, tenant: str, workflow: str) -> AppliedFile | None:
        """Read which file was applied last: one call."""
        item = self._table.get(build_workflow_key(tenant, workflow))
        return (
            None
            if item is None
            else AppliedFile(item["digest"], item["request_token"], item["applied"])
        )

    def put(self, tenant: str, workflow: str, file: AppliedFile) -> None:
        """Store which file was applied last."""
        item = {
            "name": workflow,
            "digest": file.digest,
            "request_token": file.request,
            "applied": file.applied,
        }
        self._table.put(put(build_workflow_key(tenant, workflow), item))
