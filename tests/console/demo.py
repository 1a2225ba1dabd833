"""The demo's team of agents, and the addresses of all screens that show its work."""

import os
import subprocess
import sys
from dataclasses import dataclass

import httpx

from tests.contract.expect import ok
from tests.contract.local_server import LocalServer


@dataclass(frozen=True)
class Demo:
    """The demo's memory on a server.

    Attributes:
        keys: the API key of each principal.
        screens: the address of each screen by its title.
    """

    keys: dict[str, str]
    screens: dict[str, str]


def write_demo(server: LocalServer) -> Demo:
    """Run `agent-memory demo` on a server."""
    keys = {"AGENT_MEMORY_URL": server.address, "AGENT_MEMORY_API_KEY": server.api_key}
    command = (sys.executable, "-m", "agent_memory.cli", "demo")
    subprocess.run(command, env=os.environ | keys, check=True, capture_output=True)
    with server.client() as admin:
        keys = {each: _rotate(admin, each) for each in ("lead", "frontline")}
        screens = _list_screens(admin)
    return Demo(keys | {"admin": server.api_key}, screens)


def _rotate(admin: httpx.Client, principal: str) -> str:
    return str(ok(admin.post(f"/api/v1/principals/{principal}/rotate"))["api_key"])


def _list_screens(admin: httpx.Client) -> dict[str, str]:
    memory_run = ok(admin.get("/v1/runs"))["runs"][0]["runId"]
    policies = ok(admin.get("/api/v1/memory?namespace=policies&key=refunds"))["entries"]
    run = ok(admin.get("/api/v1/runs?agent_type=support&status=completed"))["runs"][0]
    fact = ok(admin.get("/api/v1/facts?user_id=ada&predicate=has%20contract"))["facts"][0]
    return {
        "Home": "",
        "Activity": "timeline?log=agent&name=frontline",
        "People": "people",
        "Person": "person/ada",
        "Conversations": "conversations",
        "Conversation": "conversation/ada-outage",
        "States": "states?agent_id=frontline&owner_id=ada",
        "Agents": "agents",
        "Agent": "agent/frontline",
        "Runs": "runs",
        "Run": f"run/{run['id']}",
        "Episodes": "episodes/support",
        "Replayable runs": "memory-runs",
        "Replayable run": f"memory-run/{memory_run}",
        "Procedures": "procedures?agent_type=support&task_type=slow-line",
        "Board": "tasks",
        "Task": "task/task_refund-affected-customers",
        "Intent": "intent/march-outage",
        "Memories": "memory",
        "Memory": f"entry/{policies[0]['id']}",
        "Facts": "facts",
        "Fact": f"fact/{fact['fact_id']}",
        "Consolidation": "consolidation",
        "Namespaces": "namespaces",
        "Namespace": "namespace/policies?principal=billing",
        "Files": "objects",
        "Space": "space/reports",
        "File": "object?space=reports&key=outage%2Frefunds.csv",
        "Keys": "principals",
        "Permissions": "permissions",
        "Who may see this?": "access?kind=namespace&id=policies&principal=billing",
        "Guardrails": "guardrails?coordinator_id=lead",
        "Strategies": "strategies",
        "Usage": "usage",
        "Audit": "audit",
    }
