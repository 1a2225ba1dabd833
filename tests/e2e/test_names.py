"""Names of any characters, in paths and queries, through the gateway's own decoding."""

from urllib.parse import quote

import pytest

from tests.contract.bodies import NAMESPACES, TASKS, allow, create, create_task, query, semantic
from tests.contract.expect import ok
from tests.contract.service import Tenant
from tests.e2e.fixtures import E2E

pytestmark = E2E
NAMES = ["a/b//c", "two words", "a+b&c=d", "what?", "#1", "Umsätze", "日本語", "🤖", "a;b,c"]
NAMES += ["100%", "%41", "%2F", "100%25"]


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_found_by_its_name(tenant: Tenant, name: str) -> None:
    create_task(tenant.admin, id=name)
    assert ok(tenant.admin.get(f"{TASKS}/{quote(name, safe='')}"))["id"] == name


@pytest.mark.parametrize("name", NAMES)
def test_a_namespace_is_configured_by_its_name(tenant: Tenant, name: str) -> None:
    assert allow(tenant.admin, quote(name, safe=""), "write")["namespace"] == name
    create(tenant.admin, semantic(namespace=name))
    (found,) = query(tenant.admin, namespace=name)
    assert found["namespace"] == name
    assert ok(tenant.admin.get(f"{NAMESPACES}/{quote(name, safe='')}"))["namespace"] == name
