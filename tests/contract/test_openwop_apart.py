"""OpenWOP's memories and those of RFC-0015 never show in each other; no event tells
of them."""

import httpx
import pytest

from tests.contract.bodies import MEMORY, create, entry, query, semantic
from tests.contract.openwop_calls import RUNS, erring, forbidden, path, present, start
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, log, stream_function

SECRETS = [{"label": "k", "value": "sk-12345678"}]


@pytest.fixture
def admin(tenant: Tenant) -> httpx.Client:
    """Somebody who reads all logs."""
    return tenant.admin


def test_the_two_memories_are_separate(admin: httpx.Client, tenant: Tenant) -> None:
    remembered = create(admin, entry(namespace="planner", key="planner", tags=["t"]))
    shared = create(admin, semantic(namespace="planner", tags=["t"]))
    run = start(admin)
    put = run.put("of OpenWOP", tags=["t"])
    me = tenant.admin_id
    for filters in ({"agent_id": me}, {"agent_id": me, "tags": "t"}, {"tags": "t"}):
        for found in query(admin, **filters):
            assert found["id"] in (remembered["id"], shared["id"])
    assert present(admin, run.reference, tag="t") == ["of OpenWOP"]
    assert start(admin).contents() == ["of OpenWOP"]
    for id in (put["id"], run.reference, run.id):
        assert admin.get(f"{MEMORY}/{id}").status_code == 404
        headers = {"If-Match": "1"}
        assert admin.patch(f"{MEMORY}/{id}", json={"value": {}}, headers=headers).status_code == 404
    for id in (remembered["id"], shared["id"]):
        assert admin.get(path(run.reference, id)).status_code == 404
        assert admin.delete(path(run.reference, id)).json() == {"deleted": False}
        forbidden(admin.get(path(id)))
        erring(admin.post(f"{RUNS}/{id}/end"), 404, "not_found")


def test_openwop_entries_do_not_count_as_memory_entries(
    admin: httpx.Client, tenant: Tenant
) -> None:
    run = start(admin)
    for number in range(5):
        run.put(f"{number}")
    summary = admin.get(f"/api/v1/agents/{tenant.admin_id}/memory/summary").json()
    assert summary["working"]["entry_count"] == summary["episodic"]["entry_count"] == 0


@pytest.mark.in_process
@pytest.mark.usefixtures("parallel")
def test_openwop_entries_cause_no_events(
    admin: httpx.Client, tenant: Tenant, service: Service
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    run = start(admin, secrets=SECRETS)
    made = run.put("it is sk-12345678", tags=["sk-12345678"])
    run.delete(made["id"])
    run.end()
    records = stream.read()
    assert len(records) >= 10
    assert "sk-12345678" not in str(records)
    assert deliver(records) == []
    assert log(admin, f"agents/{tenant.admin_id}") == []
    create(admin, entry(key="control"))
    assert deliver(stream.read()) == []
    assert len(log(admin, f"agents/{tenant.admin_id}")) == 1
