"""`client.workflows`: namespaces, agents and tasks from one file (RFC-0015 §7)."""

from collections.abc import Mapping
from typing import Any

from agent_memory._async.resource import AsyncResource
from agent_memory.model import AppliedWorkflow
from agent_memory.responses import parse, parse_object

_WORKFLOWS = "/api/v1/workflows"


class AsyncWorkflows(AsyncResource):
    """Workflow files."""

    async def apply(self, workflow: str | Mapping[str, Any]) -> AppliedWorkflow:
        """Apply a workflow: the text of a YAML or JSON file, or its content.

        Applying the same workflow again changes nothing.

            client.workflows.apply(Path("workflow.yaml").read_text())

        Raises:
            ValidationError: it is malformed; each error names its line.
        """
        if not isinstance(workflow, str):
            applied = await self._call("POST", _WORKFLOWS, json=dict(workflow))
            return parse(AppliedWorkflow.from_document, applied)
        headers = {"Content-Type": "application/yaml"}
        answer = await self._client.request("POST", _WORKFLOWS, text=workflow, headers=headers)
        return parse(AppliedWorkflow.from_document, parse_object(answer))
