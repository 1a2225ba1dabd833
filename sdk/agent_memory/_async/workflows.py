"""`client.workflows`: namespaces, agents and tasks from one file (RFC-0015 §7)."""

from collections.abc import Mapping
from typing import Any

from agent_memory._async.resource import AsyncResource
from agent_memory.responses import parse_object

_WORKFLOWS = "/api/v1/workflows"


class AsyncWorkflows(AsyncResource):
    """Workflow files."""

    async def apply(self, workflow: str | Mapping[str, Any]) -> dict[str, Any]:
        """Apply a workflow: the text of a YAML or JSON file, or its content. The same one again
        changes nothing.

        Returns:
            What it set.

        Raises:
            ValidationError: it is malformed; the errors name their lines.
        """
        if not isinstance(workflow, str):
            return await self._call("POST", _WORKFLOWS, json=dict(workflow))
        headers = {"Content-Type": "application/yaml"}
        answer = await self._client.request("POST", _WORKFLOWS, text=workflow, headers=headers)
        return parse_object(answer)
