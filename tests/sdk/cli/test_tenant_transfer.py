"""`agent-memory export DIR` and `import DIR`: everything of a tenant moves to another one."""

import itertools
import json
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.cli.tenant.import_context import KEYS
from agent_memory.openwop import MemoryAdapter

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.terminal import PATIENCE, Cli
from tests.sdk.fault_proxy import Exchange, FaultProxy, proxy_to

_NEW = {  # what the other service gives anew; all else is exact
    "principals": {"created_at", "tenant"},
    "archives": {"id"},
}


@pytest.fixture
def clients(tenant: Tenant) -> Iterator[dict[str, Client]]:
    """A tenant with something of everything, by the principals that wrote it."""
    keys = {"admin": tenant.api_key, "ada": tenant.agent("ada")}
    address = tenant.server.address
    with Client(address, keys["admin"]) as admin, Client(address, keys["ada"]) as ada:
        fill(admin, ada)
        with Client(address, tenant.agent("bob")) as bob:
            hand_over(admin, ada, bob)
        yield {"admin": admin, "ada": ada}


def fill(admin: Client, ada: Client) -> None:
    """Write something of each kind."""
    admin.agents.configure("ada", capacity=2000)
    admin.namespaces.set_permissions("policies", default="read", allow={"ada": "write"})
    admin.tasks.create("intent_1", id="task_open", assigned_agent="ada", input={"count": 47})
    ada.memory.put("invoices", "progress", {"done": 23}, task_id="task_open", tags=["batch"])
    ada.memory.put("lessons", "dates", {"text": "ä"}, memory_type="episodic", pinned=True)
    ada.memory.put("near", "a", {}, memory_type="episodic", vector=[*[0.5] * 63, 1.0])
    ada.memory.put("policies", "refunds", {"days": 30}, memory_type="semantic")
    admin.memory.put("notes", "own", {"text": "keep"})
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": ["Hello"]},
    ]
    ada.conversations.put("session_1", "user_7", messages, tags=["support"], metadata={"a": 1})
    ada.states.put("ada", "user_7", "tone", {"formal": True})
    run = admin.runs.start("billing", instance_id="b1", input={"goal": "invoices"})
    admin.runs.append(run.id, {"tool": "ocr"}, kind="tool_call", turn=1)
    admin.runs.complete(run.id, {"ok": True})
    admin.instances.put("b1", "step", 3)
    admin.procedures.put("billing", "remind", "mail", {"steps": 2}, half_life="duration:P7D")
    admin.procedures.put("billing", "remind", "call", {"steps": 1})
    for score in (1, 0.75):
        admin.procedures.record_outcome("billing", "remind", "call", score)
    admin.agents.set_guardrails("admin", max_episodic_memory_per_agent=1500)
    admin.facts.learn("acme", "pays", "in 30 days", learned_from_run_id=run.id)
    ada.facts.learn("acme", "pays", "in 30 days")
    ada.objects.put("files", "a/b.bin", b"\x00\xff", content_type="image/png", metadata={"w": 2})
    ada.objects.put("files", "soon", b"x", ttl=3600)
    with MemoryAdapter(ada).start("planner") as notes:
        notes.put(notes.memory_ref, "first", tags=["t"])
        notes.put(notes.memory_ref, "second")
    ada.objects.share("files", {"admin": "read"})


def hand_over(admin: Client, ada: Client, bob: Client) -> None:
    """Let ada, and bob before it is revoked, leave entries in tasks; bob has some of its own."""
    admin.tasks.create("intent_1", id="task_done", assigned_agent="ada")
    ada.memory.put("done", "last", {"n": 4}, task_id="task_done")
    ada.memory.put("done", "key", {"n": 5}, task_id="task_done", sensitivity="restricted")
    admin.memory.put("done", "own", {"n": 6}, task_id="task_done")
    ada.tasks.complete("task_done", {"total": 5})
    admin.tasks.create("intent_1", id="task_left", assigned_agent="ada")
    ada.memory.put("left", "by_ada", {"n": 1}, task_id="task_left")
    task = admin.tasks.get("task_left")
    admin.tasks.update("task_left", version=task.version, assigned_agent="bob")
    bob.memory.put("left", "by_bob", {"n": 2}, task_id="task_left")
    task = admin.tasks.get("task_left")
    admin.tasks.update("task_left", version=task.version, assigned_agent="ada")
    admin.tasks.grant("task_open", "bob", "write")
    bob.memory.put("left", "granted", {"n": 3}, task_id="task_open")
    admin.tasks.revoke("task_open", "bob")
    bob.tasks.create("intent_of_bob", id="task_of_bob", assigned_agent="bob")
    admin.principals.revoke("bob")


def list_everything(clients: dict[str, Client]) -> dict[str, Any]:
    """All lists, without what each service gives anew."""
    admin, ada = clients["admin"], clients["ada"]
    listed: dict[str, Callable[[], Any]] = {
        "principals": lambda: [each.raw for each in admin.principals.list()],
        "settings": lambda: [admin.agents.get_settings("ada").raw],
        "namespaces": lambda: [each.raw for each in admin.namespaces.list()],
        "tasks": lambda: [
            each.raw for id in ("intent_1", "intent_of_bob") for each in admin.tasks.list(id)
        ],
        "left": lambda: [
            each.raw for each in admin.memory.query(namespace="left", task_id="task_left")
        ],
        "granted": lambda: [each.raw for each in ada.memory.query(task_id="task_open")],
        "archives": lambda: [
            each.raw
            for client in (admin, ada)
            for each in client.events.list_for_intent("intent_1", type="memory.archived")
        ],
        "grants": lambda: [each.raw for each in admin.tasks.list_grants("task_open")] or ["none"],
        "entries": lambda: [each.raw for c in (admin, ada) for each in c.memory.query()],
        "conversation": lambda: [ada.conversations.get("session_1").raw],
        "states": lambda: [ada.states.get("ada", "user_7", "tone")],
        "heads": lambda: [each.raw for each in ada.states.list("ada", "user_7")],
        "working values": lambda: [admin.instances.get_all("b1")],
        "permissions": lambda: [sorted(admin.principals.me().permissions)],
        "eviction": lambda: [each.raw for each in ada.agents.list_eviction_order("ada")],
        "runs": lambda: [admin.runs.get(each.id).raw for each in admin.runs.query()],
        "episodes": lambda: [
            e.raw for run in admin.runs.query() for e in admin.runs.list_episodes(run.id)
        ],
        "facts": lambda: [each.raw for each in admin.facts.query()],
        "workflows": lambda: [each.raw for each in admin.procedures.list("billing", "remind")],
        "guardrails": lambda: [admin.agents.get_guardrails("admin").raw["guardrails"]],
        "vector": lambda: [_read_vector(ada)],
        "notes": lambda: _read_notes(ada),
        "objects": lambda: [each.raw for each in ada.objects.list("files")],
        "expiring": lambda: [each.key for each in ada.objects.list("files") if each.expires_at],
        "intents": lambda: [admin.intents.get_acl("intent_1").raw],
        "spaces": lambda: [each.raw for each in admin.objects.list_spaces()],
        "all intents": lambda: [each.raw for each in admin.intents.list()],
        "bytes": lambda: [getattr(ada.objects.get("files", "a/b.bin"), "data", None)],
    }
    return {name: sort_own(list_(), _NEW.get(name, set())) for name, list_ in listed.items()}


def _read_vector(ada: Client) -> list[float]:
    (entry,) = ada.memory.query(namespace="near")
    found = ada.memory.get_entry(id=entry.id, with_vector=True)
    assert found is not None
    return [round(each, 2) for each in found.vector]


def _read_notes(ada: Client) -> list[Any]:
    """What the newest OpenWOP memory of ada's runs holds, the newest first."""
    adapter = MemoryAdapter(ada)
    (run,) = adapter.list_runs(limit=1)
    return [(each.content, each.tags) for each in adapter.list(run.memory_refs[0])]


def list_imported(tenant: Tenant, folder: Path) -> dict[str, Any]:
    """The same of the tenant into which a folder was imported."""
    (file,) = folder.glob(f"imported-*/{KEYS}")
    lines = [line for line in file.read_text().splitlines() if line.endswith("]")]
    address, keys = tenant.server.address, dict(map(json.loads, lines))
    with Client(address, tenant.api_key) as admin, Client(address, keys["ada"]) as ada:
        return list_everything({"admin": admin, "ada": ada})


def sort_own(documents: list[Any], new: Set[str]) -> list[Any]:
    """Drop what each service gives anew, at any depth."""

    def drop(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: drop(each) for name, each in value.items() if name not in new}
        return [drop(each) for each in value] if isinstance(value, list) else value

    return sorted(map(drop, documents), key=repr)


def test_everything_moves_exactly_however_often_the_import_is_killed(
    tenant: Tenant, another: Tenant, clients: dict[str, Client], tmp_path: Path
) -> None:
    before, folder = list_everything(clients), tmp_path / "moved"
    cli = tenant.cli()
    key = clients["ada"].settings.api_key
    stored = cli("--profile", "ada", "login", tenant.server.address, stdin=key)
    assert stored.code == 0, stored.err
    ended = cli("export", folder, "--with", "ada", "--user", "user_7")
    assert ended.code == 0, ended.err
    assert "holds a whole export" in cli("export", folder).err
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    archived = [each for each in events if each["type"] == "memory.archived"]
    values = [line.get("value") for each in archived for line in each["data"]["snapshot"]]
    assert sorted(values, key=repr) == [None, {"n": 4}, {"n": 6}]
    told: list[int] = []
    for file in folder.glob("*.jsonl"):  # as a newer server may have written it
        lines = [json.loads(line) | {"of_tomorrow": 1} for line in file.read_text().splitlines()]
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with proxy_to(another.server.address) as proxy:
        into = another.cli().at(proxy.address)
        for writes in (3, 28):
            _kill_import(into, proxy, folder, writes)
        for file in folder.glob("imported-*/*.jsonl"):
            file.write_bytes(file.read_bytes() + b'["cut o')  # as a kill may leave it
        for _ in range(2):  # the second time, all is there already
            proxy.plan()
            imported = into("import", folder)
            assert imported.code == 0, imported.err
            told.append(imported.err.count("doesn't know the field of_tomorrow"))
    assert told[0] > 12
    assert "an earlier run has written everything" in imported.err
    (file,) = folder.glob(f"imported-*/{KEYS}")
    assert file.stat().st_mode & 0o777 == 0o600
    after = list_imported(another, folder)
    for name in before:
        assert after[name] == before[name], name
    assert all(before.values())


def _kill_import(cli: Cli, proxy: FaultProxy, folder: Path, writes: int) -> None:
    """Kill an import when it has had so many answers to writes; the last one gets lost."""
    count = 0
    with cli.started("import", folder) as process:

        def kill(exchange: Exchange) -> None:
            nonlocal count
            answer = exchange.forward()
            count += exchange.request.method != "GET"
            if count < writes:
                exchange.send(answer)
                return
            process.kill()
            exchange.await_hang_up()

        proxy.follow(itertools.repeat(kill))
        assert process.wait(PATIENCE) == -9


def test_an_export_goes_on_where_it_was_cut_off(
    tenant: Tenant, another: Tenant, tmp_path: Path
) -> None:
    tenant.create(key="a")
    folder = tmp_path / "moved"
    assert tenant.cli()("export", folder).code == 0
    (folder / "manifest.json").unlink()  # as if it had been ended before
    refused = another.cli()("import", folder)
    assert (refused.code, "start the same `agent-memory export` again" in refused.err) == (2, True)
    tenant.create(key="b")
    (folder / "facts.jsonl").unlink()
    assert tenant.cli()("export", folder).code == 0
    entries = (folder / "entries-admin.jsonl").read_text().splitlines()
    assert [json.loads(line)["key"] for line in entries] == ["a"]


@pytest.mark.parametrize("arguments", [["-o", "file"], ["--namespace", "ns"]])
def test_an_export_into_a_folder_takes_no_filters(
    tenant: Tenant, tmp_path: Path, arguments: list[str]
) -> None:
    refused = tenant.cli()("export", tmp_path / "moved", *arguments)
    assert (refused.code, "is of everything" in refused.err) == (2, True)
