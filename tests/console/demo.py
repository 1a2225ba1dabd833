"""The demo's team of agents, and the addresses of all screens that show its work."""

import os
import subprocess
import sys
from dataclasses import dataclass

import httpx

from tests.contract.expect import ok
from tests.contract.local_server import LocalServer

_SECRET = {"label": "stripe", "value": "sk_live_0123456789"}

_WHO_SEES_MOST = {
    "Agent": "planner",
    "Task": "planner",
    "Conversations": "planner",
    "Conversation": "planner",
    "States": "reader",
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
        screens = _list_screens(admin, _run_twice(admin))
    return Demo(keys | {"admin": server.api_key}, screens)


def _rotate(admin: httpx.Client, principal: str) -> str:
    return str(ok(admin.post(f"/api/v1/principals/{principal}/rotate"))["api_key"])


def _run_twice(admin: httpx.Client) -> str:
    """Put a note in one OpenWOP run, and see it in another; return the second one's id."""
    first = ok(admin.post("/v1/runs", json={"agent": "assistant", "secrets": [_SECRET]}), 201)
    path = f"/v1/memory/{first['memoryRef']}"
    for content in ("paid with sk_live_0123456789", "closed the month"):
        put = {"content": content, "tags": ["books"], "runId": first["runId"]}
        ok(admin.post(path, json=put), 201)
    ok(admin.post(f"/v1/runs/{first['runId']}/end"))
    second = ok(admin.post("/v1/runs", json={"memoryRef": first["memoryRef"]}), 201)
    return str(second["runId"])


def _list_screens(admin: httpx.Client, memory_run: str) -> dict[str, str]:
    policies = ok(admin.get("/api/v1/memory?namespace=policies&key=currency"))["entries"]
    run = ok(admin.get("/api/v1/runs?agent_type=invoice-reader&status=completed"))["runs"][0]
    return {
        "Overview": "",
        "Agent": "agent/checker",
        "Memory": "memory?namespace=policies",
        "Entry": f"entry/{policies[0]['id']}",
        "Search": "search",
        "Namespaces": "namespaces",
        "Namespace": "namespace/policies?principal=checker",
        "Timeline": "timeline?log=agent&name=reader",
        "Tasks": "tasks",
        "Task": "task/task_check-invoices",
        "Intent": "intent/close-the-month",
        "Runs": "runs",
        "Run": f"run/{run['id']}",
        "OpenWOP runs": "memory-runs",
        "OpenWOP run": f"memory-run/{memory_run}",
        "Facts": "facts",
        "Workflows": "workflows?agent_type=invoice-checker&task_type=check",
        "Conversations": "conversations?user_id=customer-7",
        "Conversation": "conversation/session-invoices",
        "States": "states?agent_id=reader&owner_id=customer-7",
        "Access": "access?kind=namespace&id=policies&principal=checker",
        "Audit": "audit",
        "Principals": "principals",
    }
