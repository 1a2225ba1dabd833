"""`agent-memory export DIR` and `import DIR`: everything of a tenant moves to another one."""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_memory import Client
from agent_memory.cli.tenant.import_context import KEYS
from agent_memory.openwop import MemoryAdapter

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.terminal import PATIENCE, Cli
from tests.sdk.fault_proxy import Exchange, FaultProxy, Request, proxy_to

_NEW = {  # what the other service gives anew; all else is exact
    "principals": {"tenant"},
    "guardrails": {"version"},
    "openwop": {"memory_ref"},
    "events": {"id"},
}
_ARCHIVED = "memory.archived"


@pytest.fixture
def clients(tenant: Tenant) -> Iterator[dict[str, Client]]:
    """A tenant with something of everything, by the principals that wrote it."""
    keys = {"admin": tenant.api_key, "ada": tenant.agent("ada")}
    address = tenant.server.address
    with Client(address, keys["admin"]) as admin, Client(address, keys["ada"]) as ada:
        fill(admin, ada)
        with Client(address, tenant.agent("eve")) as eve:
            eve.objects.put("of eve", "unread", b"2")
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
    admin.namespaces.set_permissions("hidden", default="none", allow={"ada": "write"})
    ada.memory.put("hidden", "from admin", {"n": 1}, memory_type="semantic")
    admin.memory.put("notes", "own", {"text": "keep"})
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": ["Hello"]},
    ]
    ada.conversations.put("session_1", "user_7", messages, tags=["support"], metadata={"a": 1})
    ada.conversations.put("session_3", "user_7", messages * 3)
    for first in (4, 1):
        ada.conversations.remove_messages("session_3", first, first + 1)
    for ttl in ("duration:PT0.001S", "duration:PT0.002S", None):  # the next one archives it
        ada.conversations.put("session_2", "user_7", messages, ttl=ttl, metadata={"ttl": ttl})
        while ttl is not None and ada.conversations.get_head("session_2") is not None:
            pass
    for user in ("user_7", "user_8"):
        ada.states.put("ada", user, "tone", {"formal": True})
    admin.runs.start("billing", instance_id="crm/7")
    run = admin.runs.start("billing", instance_id="b1", input={"goal": "invoices"})
    admin.runs.append(run.id, {"tool": "ocr"}, kind="tool_call", turn=1)
    admin.runs.complete(run.id, {"ok": True})
    admin.instances.put("b1", "step", 3)
    admin.procedures.put("billing", "remind", "mail", {"steps": 2}, half_life="duration:P7D")
    admin.procedures.put("billing", "remind", "call", {"steps": 1})
    for score in (1, 0.75):
        admin.procedures.record_outcome("billing", "remind", "call", score)
    admin.agents.set_guardrails(
        "admin", max_episodic_memory_per_agent=1500, memory_archive_required=True
    )
    fill_shared(admin, ada)


def fill_shared(admin: Client, ada: Client) -> None:
    """Write facts, objects and an OpenWOP memory."""
    run = next(iter(admin.runs.query()))
    admin.facts.learn("acme", "pays", "in 30 days", learned_from_run_id=run.id)
    ada.facts.learn("acme", "pays", "in 30 days")
    ada.objects.put("files", "a/b.bin", b"\x00\xff", content_type="image/png", metadata={"w": 2})
    ada.objects.put("files", "soon", b"x", ttl=3600)
    ada.objects.put("own", "k", b"1")
    ada.objects.share("files", {"admin": "read"})
    with MemoryAdapter(ada).start("planner") as notes:
        notes.put(notes.memory_ref, "first", tags=["t"])
        notes.put(notes.memory_ref, "second")
    unread = MemoryAdapter(ada)  # no run is on it
    unread.put(unread.get_reference("planner", scope="alone"), "third")


def hand_over(admin: Client, ada: Client, bob: Client) -> None:
    """Let ada, and bob before it is revoked, leave entries in tasks; bob has some of its own."""
    policy: Any = {"archive_on_completion": False}  # the coordinator's guardrails overrule it
    admin.tasks.create("intent_1", id="task_done", assigned_agent="ada", memory_policy=policy)
    ada.memory.put("done", "last", {"n": 4}, task_id="task_done")
    ada.memory.put("done", "key", {"n": 5}, task_id="task_done", sensitivity="restricted")
    admin.memory.put("done", "own", {"n": 6}, task_id="task_done")
    ada.tasks.complete("task_done", {"total": 5})
    ada.memory.put("done", "alone", {"n": 7}, task_id="task_alone")  # that nobody registered
    ada.tasks.complete("task_alone", {"total": 1})
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


def export(
    tenant: Tenant, key_of_ada: str, folder: Path, *, has_unread: bool = False
) -> dict[str, list[Any]]:
    """Export everything of a tenant; the documents, without what each service gives anew."""
    cli = tenant.cli()
    stored = cli("--profile", "ada", "login", tenant.server.address, stdin=key_of_ada)
    assert stored.code == 0, stored.err
    ended = cli("export", folder, "--with", "ada")
    assert ended.code == 0, ended.err
    assert ("the objects in of eve: left out" in ended.err) == has_unread
    return {file.stem: read_exact(file) for file in folder.glob("*.jsonl") if file.stem != "audit"}


def read_exact(file: Path) -> list[Any]:
    """The documents of a file that move exactly; of the events these are the archives."""
    documents = [json.loads(line) for line in file.read_text().splitlines()]
    if file.stem == "events":
        documents = [each for each in documents if each["type"] == _ARCHIVED]
        documents.sort(key=lambda each: (each["timestamp"], each["agent_id"]))
    if file.stem == "principals":  # each tenant has its own first one
        documents = [each for each in documents if each["id"] != "admin"]
    new = _NEW.get(file.stem, set())
    return [{name: each[name] for name in each.keys() - new} for each in documents]


def test_everything_moves_exactly_however_often_the_import_is_killed(
    tenant: Tenant, another: Tenant, clients: dict[str, Client], tmp_path: Path
) -> None:
    folder, again = tmp_path / "moved", tmp_path / "again"
    before = export(tenant, clients["ada"].settings.api_key, folder, has_unread=True)
    assert "holds a whole export" in tenant.cli()("export", folder).err
    values = [line.get("value") for each in before["events"] for line in each["data"]["snapshot"]]
    assert sorted(values, key=repr) == [None, {"n": 4}, {"n": 6}, {"n": 7}]
    assert "task_alone" in {each["id"] for each in before["tasks"]}
    shared = [
        (name, each["key"])
        for name in ("entries-admin", "entries-ada")
        for each in before[name]
        if each["memory_type"] == "semantic"
    ]
    assert shared == [("entries-admin", "refunds"), ("entries-ada", "from admin")]
    assert len(before["archived"]) == len({each["owner_id"] for each in before["states"]}) == 2
    told: list[int] = []
    for file in folder.glob("*.jsonl"):  # as a newer server may have written it
        lines = [json.loads(line) | {"of_tomorrow": 1} for line in file.read_text().splitlines()]
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with proxy_to(another.server.address) as proxy:
        into = another.cli().at(proxy.address)
        for is_last in (_is_third_write(), _ends_task, _ends_run):
            _kill_import(into, proxy, folder, is_last)
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
    keys = dict(json.loads(line) for line in file.read_text().splitlines() if line.endswith("]"))
    after = export(another, keys["ada"], again, has_unread=True)
    with (
        Client(another.server.address, keys["ada"]) as ada,
        MemoryAdapter(ada).start("planner") as notes,
    ):
        assert [each.content for each in notes.list(notes.memory_ref)] == ["second", "first"]
    for name in before:
        assert after[name] == before[name], name
        assert before[name], name


def _is_third_write() -> Callable[[Request], bool]:
    writes = itertools.count(1)
    return lambda request: request.method != "GET" and next(writes) == 3


def _ends_task(request: Request) -> bool:
    return request.method == "PATCH" and b'"completed"' in request.body


def _ends_run(request: Request) -> bool:
    return request.path.endswith("/complete")


def _kill_import(
    cli: Cli, proxy: FaultProxy, folder: Path, is_last: Callable[[Request], bool]
) -> None:
    """Kill an import when the server has had the last request; its answer gets lost."""
    with cli.started("import", folder) as process:

        def kill(exchange: Exchange) -> None:
            answer = exchange.forward()
            if not is_last(exchange.request):
                exchange.send(answer)
                return
            process.kill()
            exchange.await_hang_up()

        proxy.follow(itertools.repeat(kill))
        assert process.wait(PATIENCE) == -9


def test_what_is_private_to_who_is_there_already_moves_under_its_key(
    tenant: Tenant, another: Tenant, tmp_path: Path
) -> None:
    folder, there = tmp_path / "moved", another.server.address
    key = tenant.agent("ada")
    with Client(tenant.server.address, key) as ada:
        entry = ada.memory.put("lessons", "dates", {"text": "ä"}, memory_type="episodic")
        notes = MemoryAdapter(ada)
        notes.put(notes.get_reference("planner"), "from here")
    export(tenant, key, folder)
    key = another.agent("ada")
    with Client(there, key) as ada, MemoryAdapter(ada).start("planner") as run:
        run.put(run.memory_ref, "from there")
    cli = another.cli()
    assert cli("--profile", "ada", "login", there, stdin=key).code == 0
    refused = cli("import", folder)
    assert (refused.code, "ada is there already" in refused.err) == (1, True), refused.err
    assert "--with" in refused.err
    imported = cli("import", folder, "--with", "ada")
    assert imported.code == 0, imported.err
    with Client(there, key) as ada:
        assert [each.raw for each in ada.memory.query()] == [entry.raw]
        assert ada.principals.me().permissions == ("memory.read", "memory.write")
        found = MemoryAdapter(ada).list(run.memory_ref)
        assert [each.content for each in found] == ["from here", "from there"]
    other = another.cli(tenant.api_key)("import", folder, "--with", "ada")
    assert (other.code, "of another tenant" in other.err) == (2, True), other.err


def test_a_task_that_nothing_can_register_is_left_out(
    tenant: Tenant, another: Tenant, tmp_path: Path
) -> None:
    """No intent names it, and its assignee has no entry in its archive."""
    folder, key = tmp_path / "moved", tenant.agent("eve")
    with (
        Client(tenant.server.address, tenant.agent("ada")) as ada,
        Client(tenant.server.address, key) as eve,
    ):
        ada.memory.put("n", "k", {}, task_id="task_emptied")
        ada.tasks.grant("task_emptied", "eve", "write")
        ada.memory.delete("n", "k")
        eve.memory.put("n", "k", {}, task_id="task_emptied")
        ada.tasks.complete("task_emptied")
    export(tenant, key, folder)
    imported = another.cli()("import", folder)
    assert imported.code == 0, imported.err
    assert imported.err.count("task_emptied is left out") == 1
