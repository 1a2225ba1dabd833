"""Run a local server in another process, on empty data, and call it over HTTP."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from functions.local.bootstrap import ADDRESS_FILE

PATIENCE = 60.0  # seconds
_ROOT = Path(__file__).parents[1]
_ROOT_KEY = "root-key-of-the-benchmark"


@contextmanager
def serve() -> Iterator[str]:
    """Run a server without limits of requests, and yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        given = {
            "AGENT_MEMORY_DATA": folder,
            "AGENT_MEMORY_PORT": "0",
            "AGENT_MEMORY_ROOT_KEY": _ROOT_KEY,
            "AGENT_MEMORY_PRINCIPAL_REQUESTS_PER_MINUTE": "0",
            "AGENT_MEMORY_TENANT_REQUESTS_PER_MINUTE": "0",
        }
        command = [sys.executable, "-m", "functions.local"]
        server = subprocess.Popen(  # noqa: S603 - code of this repository
            command, cwd=_ROOT, env=os.environ | given, stdout=subprocess.DEVNULL
        )
        try:
            yield _await_address(Path(folder) / ADDRESS_FILE)
        finally:
            server.terminate()
            server.wait()


def _await_address(file: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if file.exists() and (address := file.read_text("utf-8").strip()):
            return address
        time.sleep(0.1)
    raise TimeoutError("the local server did not start")


def new_agent(address: str, tenant: str) -> httpx.Client:
    """Create a tenant with an agent, and open the agent's client."""
    with httpx.Client(base_url=address, timeout=PATIENCE) as client:
        root = {"X-API-Key": _ROOT_KEY}
        made = client.post("/api/v1/tenants", json={"id": tenant}, headers=root).json()
        body = {"id": "agent", "kind": "agent"}
        admin = {"X-API-Key": made["admin"]["api_key"]}
        key = client.post("/api/v1/principals", json=body, headers=admin).json()["api_key"]
    return httpx.Client(base_url=address, timeout=PATIENCE, headers={"X-API-Key": key})
