"""`agent-memory export DIR` and `import DIR`: the memory of a tenant is written to another one."""

import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from agent_memory import Client

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.terminal import PATIENCE, Cli
from tests.sdk.fault_proxy import Exchange, FaultProxy, Request, proxy_to

_VECTOR = [*[0.5] * 63, 1.0]
_NEW: dict[str, set[str]] = {  # fields that the other service sets itself
    "entries": {"id", "version", "created_at", "updated_at", "created_by", "curated_by"}
    | {"last_accessed_at"},
    "namespaces": {"version", "created_at", "updated_at"},
    "conversations": {"revision", "created_at", "updated_at", "created_by", "message_count"}
    | {"generation", "messages", "agent_participants"},
    "states": {"version", "created_at", "updated_at", "created_by"},
    "facts": {"version", "created_at", "updated_at", "learned_by", "learned_count"}
    | {"first_learned_at", "learned_from_run_ids", "replaced_facts"},
    "procedures": {"version", "created_at", "updated_at", "alpha", "beta"},
    "spaces": {"version", "created_at", "updated_at"},
    "objects": {"version", "created_at", "updated_at", "created_by", "expires_at", "etag"},
}
_COMPARED = ("agents", *(name for name in _NEW if name != "entries"))


def fill(admin: Client, ada: Client) -> None:
    """Write something of each kind."""
    admin.agents.configure("ada", capacity=2000)
    admin.namespaces.set_permissions("policies", default="read", allow={"ada": "write"})
    admin.namespaces.set_permissions("team/*", default="write")
    admin.namespaces.set_permissions("hidden", default="none", allow={"ada": "write"})
    ada.memory.put("lessons", "dates", {"text": "ä"}, memory_type="episodic", pinned=True)
    ada.memory.put("near", "a", {}, memory_type="episodic", vector=_VECTOR)
    ada.memory.put("policies", "refunds", {"days": 30}, memory_type="semantic", tags=["t"])
    ada.memory.put("hidden", "of ada", {"n": 1}, memory_type="semantic")
    ada.remember("Trips end on Fridays")
    ada.namespaces.set_permissions("agents/ada/memory", allow={"admin": "read"})
    ada.namespaces.set_search_fields("agents/ada/memory", ["text"])
    ada.memory.put("notes", "trip", {}, occurred_at=datetime(2020, 2, 8, tzinfo=UTC))
    admin.memory.put("notes", "own", {"text": "keep"})
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Hi", "timestamp": "2021-01-01T00:00:00Z"},
        {
            "role": "assistant",
            "content": ["Hello"],
            "metadata": {"n": 1},
            "uses": ["m.session_1.0"],
        },
    ]
    ada.conversations.put("session_1", "user_7", messages, tags=["support"], metadata={"a": 1})
    ada.conversations.put("session_3", "user_7", messages * 3)
    ada.conversations.remove_messages("session_3", 1, 2)
    ada.states.put("ada", "user_7", "tone", {"formal": True})
    admin.procedures.put("billing", "remind", "mail", {"steps": 2}, half_life="duration:P7D")
    admin.runs.start("billing")
    admin.namespaces.set_permissions("users/*", default="none", allow={"ada": "write"})
    ada.facts.learn("user_7", "pays", "by card", user_id="user_7")
    moved = datetime(2026, 3, 12, tzinfo=UTC)
    admin.facts.learn("acme", "pays", "at once", valid_from=moved - timedelta(days=9))
    fields: Any = {"confidence": 0.5, "valid_from": moved, "replaces": "same_subject_predicate"}
    admin.facts.learn("acme", "pays", "in 30 days", **fields)
    fill_spaces(ada)


def fill_spaces(ada: Client) -> None:
    """Write objects, of which another key may read some."""
    ada.objects.put(
        "agents/ada/files", "a/b.bin", b"\x00\xff", content_type="image/png", metadata={"w": 2}
    )
    ada.objects.put("agents/ada/files", "soon", b"x", ttl=3600)
    ada.objects.put("agents/ada/shared", "k", b"y")
    ada.objects.share("agents/ada/shared", {"admin": "read"})


def export(tenant: Tenant, key_of_ada: str, folder: Path) -> dict[str, list[Any]]:
    """Export a tenant by two keys; return the documents by subject."""
    cli = tenant.cli()
    stored = cli("--profile", "ada", "login", tenant.server.address, stdin=key_of_ada)
    assert stored.code == 0, stored.err
    ended = cli("export", folder, "--with", "ada")
    assert ended.code == 0, ended.err
    return {
        file.stem: [json.loads(line) for line in file.read_text().splitlines()]
        for file in folder.glob("*.jsonl")
    }


def list_entries(documents: dict[str, list[Any]]) -> list[Any]:
    """List what is kept of all entries."""
    found = [each for name in documents if name.startswith("entries") for each in documents[name]]
    kept = [{name: each[name] for name in each.keys() - _NEW["entries"]} for each in found]
    return sorted(kept, key=lambda entry: (entry["namespace"], entry["key"]))


def list_messages(documents: dict[str, list[Any]]) -> list[Any]:
    """List what is kept of all messages: all but their indexes."""
    return [
        {name: said[name] for name in said.keys() - {"index"}}
        for each in sorted(documents["conversations"], key=lambda each: each["session_id"])
        for said in each["messages"]
    ]


def keep(name: str, documents: list[Any]) -> list[str]:
    """Select what an import keeps of documents, in one order."""
    new = _NEW.get(name, set())
    kept = [{field: each[field] for field in each.keys() - new} for each in documents]
    return sorted(json.dumps(each, sort_keys=True) for each in kept)


def test_memory_is_written_to_another_tenant_however_often_the_import_is_killed(
    tenant: Tenant, another: Tenant, tmp_path: Path
) -> None:
    key = tenant.agent("ada")
    address = tenant.server.address
    with Client(address, tenant.api_key) as admin, Client(address, key) as ada:
        fill(admin, ada)
    before = export(tenant, key, tmp_path / "moved")
    assert "has a complete export" in tenant.cli()("export", tmp_path / "moved").err
    there = another.agent("ada")
    with proxy_to(another.server.address) as proxy:
        into = another.cli().at(proxy.address)
        stored = into("--profile", "ada", "login", proxy.address, stdin=there)
        assert stored.code == 0, stored.err
        for is_last in (_is_third_write(), _writes_fact):
            _kill_import(into, proxy, tmp_path / "moved", is_last)
        for _ in range(2):  # the second time, all is there already
            proxy.plan()
            imported = into("import", tmp_path / "moved", "--with", "ada")
            assert imported.code == 0, imported.err
    after = export(another, there, tmp_path / "again")
    assert list_entries(after) == list_entries(before)
    assert len(list_entries(after)) == 7
    assert list_messages(after) == list_messages(before)
    for name in _COMPARED:
        assert before[name], name
        assert keep(name, after[name]) == keep(name, before[name]), name
    ended, fact, _ = sorted(after["facts"], key=lambda each: each["valid_from"])
    assert ended["valid_until"] == fact["valid_from"]
    assert fact["learned_count"] == 1


def test_the_time_when_something_happened_is_kept(
    tenant: Tenant, another: Tenant, tmp_path: Path
) -> None:
    with Client(tenant.server.address, tenant.api_key) as admin:
        entry = admin.memory.put("notes", "own", {"text": "keep"})
    export(tenant, tenant.agent("ada"), tmp_path / "moved")
    imported = another.cli()("import", tmp_path / "moved")
    assert imported.code == 0, imported.err
    with Client(another.server.address, another.api_key) as admin:
        (moved,) = admin.memory.query()
    assert moved.occurred_at == entry.created_at
    assert moved.id != entry.id


def test_the_uses_of_messages_name_the_imported_items(
    tenant: Tenant, another: Tenant, tmp_path: Path
) -> None:
    key, there = tenant.agent("ada"), another.agent("ada")
    with Client(tenant.server.address, key) as ada:
        ada.remember("Orders leave the warehouse in Utrecht on Mondays")
        ada.memory.put(
            "lessons", "dates", {"text": "Pallets leave on Fridays"}, memory_type="episodic"
        )
        entry = ada.memory.put("notes", "dates", {"text": "Boxes leave on Sundays"})
        ada.facts.learn("orders", "leave on", "Monday")
        ada.say("chat/1", user="When do orders leave?", assistant="Wait")
        ada.conversations.remove_messages("chat/1", 0, 1)
        recalled = ada.recall("When do orders, pallets and boxes leave?", wait="indexed")
        uses = [*(each.reference for each in recalled.items), f"e.{entry.id}", "m.chat~2f1.0"]
        ada.say("chat/1", assistant="On Mondays", uses=uses)
    export(tenant, key, tmp_path / "moved")
    cli = another.cli()
    assert cli("--profile", "ada", "login", another.server.address, stdin=there).code == 0
    for _ in range(2):
        assert cli("import", tmp_path / "moved", "--with", "ada").code == 0
    with Client(another.server.address, there) as ada:
        said = ada.conversations.get("chat/1").messages[-1]
        named = {each: ada.get_recalled(each).text for each in said.uses}
    assert sorted(named.values()) == sorted(each.text for each in recalled.items)


def _is_third_write() -> Callable[[Request], bool]:
    writes = itertools.count(1)
    return lambda request: request.method != "GET" and next(writes) == 3


def _writes_fact(request: Request) -> bool:
    return request.path == "/api/v1/facts"


def _kill_import(
    cli: Cli, proxy: FaultProxy, folder: Path, is_last: Callable[[Request], bool]
) -> None:
    """Kill an import when the server has had the last request; its answer gets lost."""
    with cli.started("import", folder, "--with", "ada") as process:

        def kill(exchange: Exchange) -> None:
            answer = exchange.forward()
            if not is_last(exchange.request):
                exchange.send(answer)
                return
            process.kill()
            exchange.await_hang_up()

        proxy.follow(itertools.repeat(kill))
        assert process.wait(PATIENCE) == -9


def test_private_memory_needs_the_key_of_its_owner(
    tenant: Tenant, another: Tenant, tmp_path: Path
) -> None:
    key = tenant.agent("ada")
    with (
        Client(tenant.server.address, key) as ada,
        Client(tenant.server.address, tenant.api_key) as admin,
    ):
        ada.memory.put("lessons", "dates", {"text": "ä"}, memory_type="episodic")
        ada.remember("Trips end on Fridays")
        admin.namespaces.set_permissions("users/*", default="none", allow={"ada": "write"})
        ada.facts.learn("user_7", "pays", "by card", user_id="user_7")
        ada.objects.put("agents/ada/files", "k", b"y")
        ada.states.put("ada", "user_7", "tone", {"formal": True})
        admin.tasks.create("intent_1", id="task_1", assigned_agent="ada")
        ada.memory.put("work", "step", {"n": 1}, task_id="task_1")
    export(tenant, key, tmp_path / "moved")
    imported = another.cli()("import", tmp_path / "moved")
    assert imported.code == 0, imported.err
    assert "2 private entries of ada were left out: import them --with its key" in imported.err
    assert "permissions of agents/ada/memory: left out; give the key of ada" in imported.err
    assert "1 entries of tasks were left out: tasks are not imported" in imported.err
    assert "1 states were left out: no given key may write them" in imported.err
    cli = another.cli()
    there = another.agent("ada")
    assert cli("--profile", "ada", "login", another.server.address, stdin=there).code == 0
    assert cli("import", tmp_path / "moved", "--with", "ada").code == 0
    with Client(another.server.address, there) as ada:
        assert [each.value["text"] for each in ada.memory.query()] == ["Trips end on Fridays", "ä"]
        assert [each.subject for each in ada.facts.query()] == ["user_7"]


@pytest.mark.parametrize("content", [None, "{}"])
def test_an_export_that_is_not_whole_is_refused(
    tenant: Tenant, tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    assert tenant.cli()("import", tmp_path).code == 2


def test_a_key_of_another_tenant_is_refused(
    tenant: Tenant, another: Tenant, tmp_path: Path
) -> None:
    export(tenant, tenant.agent("ada"), tmp_path / "moved")
    cli = another.cli()
    stored = cli("--profile", "ada", "login", tenant.server.address, stdin=tenant.api_key)
    assert stored.code == 0, stored.err
    refused = cli("import", tmp_path / "moved", "--with", "ada")
    assert (refused.code, "of another tenant" in refused.err) == (2, True), refused.err
