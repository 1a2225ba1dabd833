"""The demo's team of agents, and the addresses of all screens that show its work."""

import os
import subprocess
import sys
from dataclasses import dataclass

import httpx

from tests.contract.expect import ok
from tests.contract.local_server import LocalServer

_WHO_SEES_MOST = {
    "Agent": "planner",
    "Task": "planner",
    "Conversations": "planner",
    "Conversation": "planner",
    "States": "reader",
    "Space": "reader",
    "File": "reader",
}


@dataclass(frozen=True)
class Demo:
    """The demo's memory on a server.

    Attributes:
        keys: the API key of each principal that sees more than an administrator does.
        screens: the address of each screen by its title.
    """

    keys: dict[str, str]
    screens: dict[str, str]

    def key_of(self, title: str) -> str:
        """Return the key of who sees most on a screen."""
        return self.keys[_WHO_SEES_MOST.get(title, "admin")]


def write_demo(server: LocalServer) -> Demo:
    """Run `agent-memory demo` on a server."""
    keys = {"AGENT_MEMORY_URL": server.address, "AGENT_MEMORY_API_KEY": server.api_key}
    command = (sys.executable, "-m", "agent_memory.cli", "demo")
    subprocess.run(command, env=os.environ | keys, check=True, capture_output=True)
    with server.client() as admin:
        keys = {each: _rotate(admin, each) for each in ("planner", "reader")}
        screens = _list_screens(admin)
    return Demo(keys | {"admin": server.api_key}, screens)


def _rotate(admin: httpx.Client, principal: str) -> str:
    return str(ok(admin.post(f"/api/v1/principals/{principal}/rotate"))["api_key"])


def _list_screens(admin: httpx.Client) -> dict[str, str]:
    memory_run = ok(admin.get("/v1/runs"))["runs"][0]["runId"]
    policies = ok(admin.get("/api/v1/memory?namespace=policies&key=currency"))["entries"]
    run = ok(admin.get("/api/v1/runs?agent_type=invoice-reader&status=completed"))["runs"][0]
    return {
        "Home": "",
        "People": "people",
        "Person": "person/customer-7",
        "Agents": "agents",
        "Agent": "agent/checker",
        "Memories": "memory?namespace=policies",
        "Memory": f"entry/{policies[0]['id']}",
        "Namespaces": "namespaces",
        "Namespace": "namespace/policies?principal=checker",
        "Activity": "timeline?log=agent&name=reader",
        "Tasks": "tasks",
        "Task": "task/task_check-invoices",
        "Intent": "intent/close-the-month",
        "Runs": "runs",
        "Run": f"run/{run['id']}",
        "Episodes": "episodes/invoice-reader",
        "Replayable runs": "memory-runs",
        "Replayable run": f"memory-run/{memory_run}",
        "Facts": "facts",
        "Procedures": "workflows?agent_type=invoice-checker&task_type=check",
        "Conversations": "conversations",
        "Conversation": "conversation/session-invoices",
        "States": "states?agent_id=reader&owner_id=customer-7",
        "Files": "objects",
        "Space": "space/reports",
        "File": "object?space=reports&key=2026%2F10.csv",
        "Guardrails": "guardrails?coordinator_id=planner",
        "Who may see this?": "access?kind=namespace&id=policies&principal=checker",
        "Audit": "audit",
        "Keys": "principals",
    }
