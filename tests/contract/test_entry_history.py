"""Earlier versions of living entries (CONTRACT3 section 15)."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from functions.platform.clock import to_rfc3339
from tests.contract.bodies import MEMORY, NAMESPACES, create, entry, semantic, update
from tests.contract.expect import assert_no_content, invalid, ok, refused
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Json, Stream, stream_function
from tests.contract.sweeping import sweep

DAY = 86_400  # seconds
pytestmark = [
    pytest.mark.parametrize("engine", ["dynoxide"], indirect=True),
    pytest.mark.in_process,
]
Deliver = Callable[[], list[Json]]


@pytest.fixture
def deliver(service: Service) -> Deliver:
    """Deliver all changes since the last call to the stream function; give their records."""
    stream, function = Stream(service), stream_function(service)

    def run() -> list[Json]:
        records = stream.read()
        assert function(records) == []
        return records

    return run


@pytest.fixture
def ada(tenant: Tenant) -> httpx.Client:
    ok(tenant.admin.patch(f"{NAMESPACES}/facts", json={"permissions": {"default": "write"}}))
    return tenant.agent("ada")


def change(service: Service, client: httpx.Client, id: str, *values: int) -> list[str]:
    """Change an entry to these values, a minute apart; give the times between the changes."""
    times = []
    for number, value in enumerate(values, 1):
        service.clock.advance(seconds=30)
        times.append(to_rfc3339(service.clock()))
        service.clock.advance(seconds=30)
        ok(update(client, id, number, value={"n": value}))
    return times


def versions(client: httpx.Client, id: str, **query: Any) -> list[Json]:
    found: list[Json] = ok(client.get(f"{MEMORY}/{id}/history", params=query))["versions"]
    return found


def numbers(listed: list[Json]) -> list[int]:
    return [each["value"]["n"] for each in listed]


def count_items(service: Service, tenant: Tenant) -> int:
    """Count the stored earlier versions."""
    return sum(f"{tenant.id}#h#" in item["pk"]["S"] for item in service.engine.items())


def test_every_version_is_kept_once(
    service: Service, ada: httpx.Client, deliver: Deliver, tenant: Tenant
) -> None:
    made = create(ada, semantic(tags=["a"]))
    change(service, ada, made["id"], 2, 3)
    records = deliver()
    assert stream_function(service)(records) == []
    found = versions(ada, made["id"])
    assert numbers(found) == [3, 2, 1]
    assert [each["version"] for each in found] == [3, 2, 1]
    assert [each["change"] for each in found] == ["updated", "updated", "created"]
    assert {each["actor"] for each in found} == {"ada"}
    assert found[0]["superseded_at"] is None
    assert [each["superseded_at"] for each in found[1:]] == [each["time"] for each in found[:2]]
    assert found[2]["tags"] == ["a"]
    assert count_items(service, tenant) == 2
    assert "value" not in versions(ada, made["id"], values="omit")[0]


def test_pages_of_versions_continue(service: Service, ada: httpx.Client, deliver: Deliver) -> None:
    made = create(ada, semantic())
    change(service, ada, made["id"], 2, 3, 4)
    deliver()
    seen, after = [], None
    while True:
        query = {"limit": 1} | ({} if after is None else {"after": after})
        page = ok(ada.get(f"{MEMORY}/{made['id']}/history", params=query))
        seen += numbers(page["versions"])
        after = page.get("next")
        if after is None:
            break
    assert seen == [4, 3, 2, 1]


def test_an_entry_is_shown_as_it_stood(
    service: Service, ada: httpx.Client, deliver: Deliver
) -> None:
    before = to_rfc3339(service.clock() - 1)
    made = create(ada, semantic())
    url = f"{MEMORY}/{made['id']}"
    times = change(service, ada, made["id"], 2, 3)
    deliver()
    assert [ok(ada.get(url, params={"as_of": each}))["value"]["n"] for each in times] == [1, 2]
    second = ok(ada.get(url, params={"version": 2}))
    assert (second["value"], second["version"]) == ({"n": 2}, 2)
    assert second["superseded_at"] == ok(ada.get(url))["updated_at"]
    present = ok(ada.get(url, params={"version": 3}))
    assert (present["value"], present["superseded_at"]) == ({"n": 3}, None)
    refused(ada.get(url, params={"version": 4}), 404, "ENTRY_NOT_FOUND")
    refused(ada.get(url, params={"as_of": before}), 404, "ENTRY_NOT_FOUND")
    invalid(ada.get(url, params={"as_of": before, "version": 1}), "as_of")


def test_a_namespace_is_queried_as_it_stood(
    service: Service, ada: httpx.Client, deliver: Deliver
) -> None:
    first = create(ada, semantic(tags=["old"]))
    (time,) = change(service, ada, first["id"], 2)
    ok(update(ada, first["id"], 2, tags=["new"]))
    create(ada, semantic(key="later"))
    gone = create(ada, semantic(key="gone"))
    assert_no_content(ada.delete(f"{MEMORY}/{gone['id']}"))
    deliver()
    query = {"namespace": "facts", "as_of": time}
    (found,) = ok(ada.get(MEMORY, params=query))["entries"]
    assert (found["value"], found["version"], found["tags"]) == ({"n": 1}, 1, ["old"])
    assert ok(ada.get(MEMORY, params=query | {"tags": "old"}))["entries"] == [found]
    assert ok(ada.get(MEMORY, params=query | {"tags": "new"}))["entries"] == []
    invalid(ada.get(MEMORY, params={"as_of": time, "agent_id": "ada"}), "as_of")


def test_what_is_older_than_the_kept_days_is_gone(
    service: Service, ada: httpx.Client, deliver: Deliver
) -> None:
    made = create(ada, semantic())
    (time,) = change(service, ada, made["id"], 2)
    deliver()
    service.clock.advance(seconds=31 * DAY)
    url = f"{MEMORY}/{made['id']}"
    assert numbers(versions(ada, made["id"])) == [2]
    refused(ada.get(url, params={"as_of": time}), 410, "HISTORY_NOT_KEPT")
    refused(ada.get(url, params={"version": 1}), 410, "HISTORY_NOT_KEPT")
    query = {"namespace": "facts", "as_of": time}
    refused(ada.get(MEMORY, params=query), 410, "HISTORY_NOT_KEPT")


def test_a_namespace_says_how_long(
    service: Service, ada: httpx.Client, deliver: Deliver, tenant: Tenant
) -> None:
    url = f"{NAMESPACES}/facts"
    assert ok(tenant.admin.get(url))["history"] == {"days": 30}
    changed = ok(tenant.admin.patch(url, json={"history": {"days": 0}}))
    assert changed["history"] == {"days": 0}
    made = create(ada, semantic())
    (time,) = change(service, ada, made["id"], 2)
    deliver()
    assert count_items(service, tenant) == 0
    assert numbers(versions(ada, made["id"])) == [2]
    ok(tenant.admin.patch(url, json={"history": None}))
    query = {"namespace": "facts", "as_of": time}
    refused(ada.get(MEMORY, params=query), 410, "HISTORY_NOT_KEPT")
    service.clock.advance(seconds=60)
    now = to_rfc3339(service.clock())
    service.clock.advance(seconds=60)
    ok(update(ada, made["id"], 2, value={"n": 3}))
    deliver()
    assert numbers(versions(ada, made["id"])) == [3, 2]
    assert numbers(ok(ada.get(MEMORY, params={"namespace": "facts", "as_of": now}))["entries"]) == [
        2
    ]
    invalid(tenant.admin.patch(f"{NAMESPACES}/users%2F*", json={"history": {"days": 1}}), "history")
    invalid(tenant.admin.patch(url, json={"history": {"days": 3651}}), "history.days")


def test_episodic_memory_keeps_history_by_the_agents_settings(
    service: Service, ada: httpx.Client, deliver: Deliver, tenant: Tenant
) -> None:
    off = create(ada, entry(key="off"))
    change(service, ada, off["id"], 2)
    deliver()
    assert numbers(versions(ada, off["id"])) == [2]
    url = "/api/v1/agents/ada/memory/config"
    settings = ok(tenant.admin.patch(url, json={"episodic": {"history": {"days": 7}}}))
    assert settings["episodic"]["history"] == {"days": 7}
    made = create(ada, entry())
    (time,) = change(service, ada, made["id"], 2)
    deliver()
    assert numbers(versions(ada, made["id"])) == [2, 1]
    query = {"memory_type": "episodic", "key": "k", "as_of": time}
    assert numbers(ok(ada.get(MEMORY, params=query))["entries"]) == [1]


def test_a_version_is_restored_as_a_new_one(
    service: Service, ada: httpx.Client, deliver: Deliver
) -> None:
    made = create(ada, semantic())
    change(service, ada, made["id"], 2, 3)
    deliver()
    url = f"{MEMORY}/{made['id']}/restore"
    key = {"Idempotency-Key": "once", "If-Match": "3"}
    restored = ok(ada.post(url, json={"version": 1}, headers=key))
    assert (restored["value"], restored["version"]) == ({"n": 1}, 4)
    assert ok(ada.post(url, json={"version": 1}, headers=key)) == restored
    deliver()
    assert numbers(versions(ada, made["id"])) == [1, 3, 2, 1]
    late = ada.post(url, json={"version": 2}, headers={"If-Match": "3"})
    refused(late, 409, "VERSION_MISMATCH")
    refused(ada.post(url, json={"version": 2}), 428, "PRECONDITION_REQUIRED")
    gone = ada.post(url, json={"version": 9}, headers={"If-Match": "4"})
    refused(gone, 404, "ENTRY_NOT_FOUND")


def test_a_deletion_takes_the_history_with_it(
    service: Service, ada: httpx.Client, deliver: Deliver, tenant: Tenant
) -> None:
    made = create(ada, semantic())
    change(service, ada, made["id"], 2, 3)
    early = deliver()
    assert count_items(service, tenant) == 2
    assert_no_content(ada.delete(f"{MEMORY}/{made['id']}"))
    refused(ada.get(f"{MEMORY}/{made['id']}/history"), 404, "ENTRY_NOT_FOUND")
    refused(ada.get(f"{MEMORY}/{made['id']}", params={"version": 1}), 404, "ENTRY_NOT_FOUND")
    deliver()
    assert count_items(service, tenant) == 0
    again = create(ada, semantic())
    assert stream_function(service)(early) == []  # a late record brings nothing back
    assert count_items(service, tenant) == 0
    assert numbers(versions(ada, again["id"])) == [1]


def test_an_eviction_and_an_expiry_take_the_history_with_them(
    service: Service, ada: httpx.Client, deliver: Deliver, tenant: Tenant
) -> None:
    settings = {"episodic": {"capacity": 1, "history": {"days": 7}}}
    ok(tenant.admin.patch("/api/v1/agents/ada/memory/config", json=settings))
    evicted = create(ada, entry())
    change(service, ada, evicted["id"], 2)
    expiring = create(ada, semantic(ttl="PT1H"))
    change(service, ada, expiring["id"], 2)
    deliver()
    assert count_items(service, tenant) == 2
    create(ada, entry(key="other"))
    service.clock.advance(seconds=7200)
    refused(ada.get(f"{MEMORY}/{expiring['id']}/history"), 404, "ENTRY_NOT_FOUND")
    sweep(service)
    deliver()
    assert count_items(service, tenant) == 0


def test_the_history_of_an_entry_is_removed_alone(
    service: Service, ada: httpx.Client, deliver: Deliver, tenant: Tenant
) -> None:
    made = create(ada, semantic())
    (time, _) = change(service, ada, made["id"], 2, 3)
    late = deliver()
    assert_no_content(ada.delete(f"{MEMORY}/{made['id']}/history"))
    assert numbers(versions(ada, made["id"])) == [3]
    assert stream_function(service)(late) == []
    assert count_items(service, tenant) == 0
    url = f"{MEMORY}/{made['id']}"
    refused(ada.get(url, params={"as_of": time}), 410, "HISTORY_NOT_KEPT")
    ok(update(ada, made["id"], 3, value={"n": 4}))
    deliver()
    assert numbers(versions(ada, made["id"])) == [4, 3]
    reader = tenant.agent("reader", permissions=["memory.read"])
    refused(reader.delete(f"{url}/history"), 403, "ACCESS_DENIED")


def test_todays_rights_decide_on_the_past(
    service: Service, ada: httpx.Client, deliver: Deliver, tenant: Tenant
) -> None:
    made = create(ada, semantic())
    (time,) = change(service, ada, made["id"], 2)
    deliver()
    rule = {"permissions": {"default": "none", "allow": [{"agent": "boss", "access": "read"}]}}
    ok(tenant.admin.patch(f"{NAMESPACES}/facts", json=rule))
    url = f"{MEMORY}/{made['id']}"
    eve = tenant.agent("eve")
    for path in (f"{url}/history", f"{url}?version=1", f"{url}?as_of=2026-01-01T00:00:00Z"):
        refused(eve.get(path), 403, "ACCESS_DENIED")
    listed = ok(eve.get(MEMORY, params={"namespace": "facts", "as_of": time}))
    assert (listed["entries"], listed["hidden"]) == ([], True)
    assert numbers(versions(tenant.coordinator("boss"), made["id"])) == [2, 1]


def test_a_sensitive_value_is_encrypted_in_its_history(
    service: Service, ada: httpx.Client, deliver: Deliver
) -> None:
    made = create(ada, semantic(sensitivity="restricted", value={"n": 1, "pin": "s3cret-pin"}))
    ok(update(ada, made["id"], 1, value={"n": 2}))
    deliver()
    assert b"s3cret-pin" not in repr(service.engine.items()).encode()
    assert versions(ada, made["id"])[1]["value"] == {"n": 1, "pin": "s3cret-pin"}


def test_the_last_change_is_waited_for(ada: httpx.Client, deliver: Deliver) -> None:
    made = create(ada, semantic())
    ok(update(ada, made["id"], 1, value={"n": 2}))
    with pytest.raises(AssertionError, match="UNAVAILABLE"):
        ada.get(f"{MEMORY}/{made['id']}/history")
    deliver()
    assert numbers(versions(ada, made["id"])) == [2, 1]


def find_traces(service: Service, *markers: str) -> list[str]:
    """Return the table items, index rows, vectors and archives that hold one of these texts."""
    texts = [repr(item) for item in service.stored()]
    files = (path for path in service.archive.rglob("*") if path.is_file())
    texts += [repr(path.read_bytes()) for path in files]
    return [text for text in texts if any(marker in text for marker in markers)]


def remember_twice(client: httpx.Client, **fields: Any) -> str:
    """An entry with an earlier version; both values have the word of their number."""
    made = create(client, fields | {"value": {"text": "zqfirst"}})
    ok(update(client, made["id"], 1, value={"text": "zqsecond"}))
    return str(made["id"])


@pytest.mark.parametrize("how", ["delete", "evict", "expire", "agent", "person", "tenant"])
def test_what_is_removed_leaves_no_trace_of_its_history(
    service: Service, tenant: Tenant, deliver: Deliver, how: str
) -> None:
    ada, admin = tenant.agent("ada"), tenant.admin
    settings = {"episodic": {"capacity": 1, "history": {"days": 7}}}
    ok(admin.patch("/api/v1/agents/ada/memory/config", json=settings))
    own = {"memory_type": "episodic", "namespace": "notes", "key": "k"}
    shared = {"memory_type": "semantic", "namespace": "agents/ada/notes", "key": "k"}
    fields = own if how in ("evict", "agent") else shared
    id = remember_twice(ada, **fields, **({"ttl": "PT1H"} if how == "expire" else {}))
    deliver()
    assert find_traces(service, "zqfirst")
    deletion = {"kind": how, "id": "ada"}
    remove: dict[str, Callable[[], Any]] = {
        "delete": lambda: assert_no_content(ada.delete(f"{MEMORY}/{id}")),
        "evict": lambda: create(ada, own | {"key": "other", "value": {}}),
        "expire": lambda: service.clock.advance(seconds=7200),
        "agent": lambda: ok(admin.post("/api/v1/deletions", json=deletion), 202),
        "person": lambda: ok(admin.post("/api/v1/deletions", json=deletion), 202),
        "tenant": lambda: ok(service.root.delete(f"/api/v1/tenants/{tenant.id}"), 202),
    }
    remove[how]()
    if how in ("delete", "evict", "expire"):
        past = ada.get(f"{MEMORY}/{id}", params={"version": 1})
        refused(past, 404, "ENTRY_NOT_FOUND")
    for _ in range(4):
        sweep(service)
        deliver()
        service.clock.advance(seconds=1200)
    assert find_traces(service, "zqfirst", "zqsecond") == []
    assert count_items(service, tenant) == 0
    spaces = (f"{tenant.id}#va#", f"{tenant.id}#vn#")
    vectors = [each for each in service.stored() if each["pk"]["S"].startswith(spaces)]
    is_other = how == "evict"  # the entry that took the place has one
    assert len([each for each in vectors if "model" in each]) == is_other
