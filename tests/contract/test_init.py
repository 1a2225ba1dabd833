"""Lambda's INIT does the work of a start: the first requests import nothing more."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from functions.local.gateway import to_event
from tests.contract.bodies import MEMORY, create, entry
from tests.contract.service import Tenant

pytestmark = pytest.mark.in_process
_ROOT = Path(__file__).parents[2]
_CODE = """
import json, sys
event = json.load(sys.stdin)
from functions.api.main import handler
before = set(sys.modules)
response = handler(event, None)
print(json.dumps([response["statusCode"], sorted(set(sys.modules) - before)]))
"""


def _first_request(
    tenant: Tenant, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, list[str]]:
    """Send a new process its first request; return the status and what it imported for it."""
    if not tenant.service.engine.environment:
        pytest.skip("the engine is in this process")
    sent = {"x-api-key": tenant.admin.headers["x-api-key"], **headers}
    content = b"" if body is None else json.dumps(body).encode()
    ran = subprocess.run(
        [sys.executable, "-c", _CODE],
        input=json.dumps(to_event(method, path, "", sent.items(), content, "127.0.0.1")),
        env=os.environ | tenant.service.environment(),
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    status, imported = json.loads(ran.stdout.splitlines()[-1])
    return status, imported


def test_the_first_get_of_an_entry_imports_nothing(tenant: Tenant) -> None:
    made = create(tenant.admin, entry())
    assert _first_request(tenant, "GET", f"{MEMORY}/{made['id']}") == (200, [])


def test_the_first_change_of_an_entry_imports_nothing(tenant: Tenant) -> None:
    path = f"{MEMORY}/{create(tenant.admin, entry())['id']}"
    change = {"value": {"n": 2}}
    assert _first_request(tenant, "PATCH", path, change, **{"if-match": "1"}) == (200, [])


def test_the_first_create_of_an_entry_imports_nothing(tenant: Tenant) -> None:
    assert _first_request(tenant, "POST", MEMORY, entry()) == (201, [])
