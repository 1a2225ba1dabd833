"""The commands on principals, namespaces, conversations, facts, runs, objects, audit, access."""

import json
from pathlib import Path

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.terminal import Cli


def test_principals_are_made_changed_and_revoked(tenant: Tenant) -> None:
    cli = tenant.cli()
    made = cli("principals", "create", "ada", "--permission", "memory.read", "--json").document
    assert tenant.cli(made["api_key"])("principals", "me", "--json").document["id"] == "ada"
    changed = cli("principals", "update", "ada", "--agent-type", "sdr", "--json").document
    assert (changed["agent_type"], changed["permissions"]) == ("sdr", ["memory.read"])
    assert cli("principals", "rotate", "ada", "--json").document["api_key"] != made["api_key"]
    assert cli("principals", "list").out.split("\n")[0].split() == [
        *("ID", "KIND", "PERMISSIONS", "AGENT", "TYPE", "EXPIRES", "AT"),
    ]
    assert cli("principals", "revoke", "ada").code == 0
    assert [each["id"] for each in cli("principals", "list", "--json").documents] == ["admin"]
    (record, *_) = cli("audit", "--actor", "admin", "--json", "--limit", "1").documents
    assert record["actor"]["id"] == "admin"


def test_usage_is_shown_by_day(tenant: Tenant) -> None:
    cli = tenant.cli()
    (*_, today) = cli("usage", "--json").documents
    assert today.keys() >= {"tenant", "day", "requests", "items", "bytes", "cost_usd"}
    (one,) = cli("usage", "--since", today["day"], "--until", today["day"], "--json").documents
    assert one["day"] == today["day"]
    assert today["limits"]["items"] is None
    assert cli("usage").out.split("\n")[0].split()[:2] == ["TENANT", "DAY"]


def test_agents_have_limits_and_namespaces_have_permissions(tenant: Tenant) -> None:
    cli = tenant.cli()
    tenant.agent("ada")
    settings = cli("agents", "configure", "ada", "--capacity", "5000", "--json").document
    assert settings["episodic"]["capacity"] == 5000
    settings = cli("agents", "configure", "ada", "--history-days", "7", "--json").document
    assert (settings["episodic"]["capacity"], settings["episodic"]["history"]) == (
        5000,
        {"days": 7},
    )
    assert "ada" in cli("agents", "list").out
    cli("namespaces", "set", "policies", "--default", "none", "--allow", "ada=write")
    shown = cli("namespaces", "show", "policies", "--json").document["permissions"]
    assert shown == {"default": "none", "allow": [{"agent": "ada", "access": "write"}]}
    told = cli("access", "--principal", "ada", "--namespace", "policies", "--json").document
    assert told["write"]["allowed"] is True or told["write"] is True
    both = ("--history-days", "0", "--default", "read", "--version", "1")
    changed = cli("namespaces", "set", "policies", *both, "--json").document
    assert (changed["history"], changed["permissions"]["default"]) == ({"days": 0}, "read")
    refused = cli("namespaces", "set", "policies", "--allow", "ada")
    assert (refused.code, "--allow must be ID=ACCESS" in refused.err) == (2, True)


def test_facts_hold_for_a_time(tenant: Tenant) -> None:
    cli = tenant.cli()
    learn = ("facts", "learn", "Ada", "lives in")
    about = ("--user", "ada", "--valid-from")
    cli(*learn, "Rome", *about, "2020-01-01", "--valid-until", "2022-01-01")
    assert cli("facts", "declare", "lives in", "--json").document["single_valued"] is True
    assert cli("facts", "predicates", "--json").documents == [{"predicate": "lives in"}]
    cli(*learn, "Oslo", *about, "2023-01-01")
    then, now = ("--as-of", "2021-01-01"), ("--user", "ada")
    for found, expected in (
        (cli("facts", "list", *then, *now, "--json"), ["Rome"]),
        (cli("facts", "list", *now, "--json"), ["Oslo"]),
        (cli("facts", "recall", "Where does Ada live?", *then, "--json"), ["Rome"]),
        (cli("facts", "list", "--user", "ben", "--json"), []),
    ):
        assert [each["object"] for each in found.documents] == expected, found.err
    cli("facts", "declare", "lives in", "--several")
    assert cli("facts", "predicates", "--json").documents == []


def test_what_is_evicted_next_is_listed(tenant: Tenant) -> None:
    ada = tenant.cli(tenant.agent("ada"))
    for key, priority in (("first", "normal"), ("second", "low")):
        ada("set", "notes", key, "{}", "--type", "episodic", "--priority", priority)
    listed = ada("agents", "eviction", "--json", "--limit", "1").documents
    assert [each["key"] for each in listed] == ["second"]
    assert "LAST ACCESSED AT" in ada("agents", "eviction", "ada").out


def test_workflows_and_openwop_runs_are_listed(tenant: Tenant) -> None:
    cli = tenant.cli()
    tenant.http.put("/api/v1/procedures/sdr/reply/short", json={"spec": {}}).raise_for_status()
    run = tenant.http.post("/v1/runs", json={"agent": "sdr"}).raise_for_status().json()["runId"]
    assert cli("procedures", "types", "sdr", "--json").documents == [{"task_type": "reply"}]
    assert cli("procedures", "list", "sdr", "reply", "--json").documents[0]["mean"] == 0.5
    (listed,) = cli("openwop", "list", "--json", "--limit", "1").documents
    assert (listed["runId"], listed["state"]) == (run, "open")
    assert cli("openwop", "show", run, "--json").document == listed
    missing = cli("openwop", "show", "run_none")
    assert (missing.code, "no run has this id" in missing.err) == (1, True)


def test_a_conversation_is_begun_by_its_first_message(cli: Cli) -> None:
    for text in ("Hi", "Where is my order?"):
        assert cli("conversations", "append", "s1", text, "--user", "user_7").code == 0
    (listed,) = cli("conversations", "list", "--user", "user_7", "--json").documents
    assert (listed["session_id"], listed["message_count"]) == ("s1", 2)
    assert cli("conversations", "show", "s1", "--last", "1").out.endswith("Where is my order?\n")
    assert len(cli("conversations", "show", "s1", "--json").documents) == 2
    assert cli("conversations", "rm", "s1").code == 0
    assert "conversations list" in cli("conversations", "rm", "s1").err


def test_facts_are_learned_recalled_and_forgotten(cli: Cli) -> None:
    fact = cli("facts", "learn", "acme", "pays", "in 30 days", "--json").document
    wrong = cli("facts", "learn", "acme", "pays", "late", "--confidence", "-0.5")
    assert (wrong.code, "from 0 to 1" in wrong.err) == (2, True)
    assert "in 30 days" in cli("facts", "list", "--subject", "acme").out
    assert cli("facts", "recall", "acme", "--json").documents[0]["fact_id"] == fact["fact_id"]
    assert cli("facts", "forget", fact["fact_id"], "--json").document == {"forgotten": 1}
    assert "facts list" in cli("facts", "forget", fact["fact_id"]).err
    assert cli("facts", "forget", "--subject", "acme", "--json").document == {"forgotten": 0}


def test_runs_are_listed_with_their_episodes(tenant: Tenant) -> None:
    cli = tenant.cli()
    run = tenant.http.post("/api/v1/runs", json={"agent_type": "sdr"}).json()["id"]
    tenant.http.post(f"/api/v1/runs/{run}/episodes", json={"content": "called"})
    assert run in cli("runs", "list", "--agent-type", "sdr").out
    assert cli("runs", "show", run, "--json").document["status"] == "running"
    assert cli("runs", "episodes", run, "--json").documents[0]["content"] == "called"
    assert cli("runs", "rm", run).code == 0
    assert "runs list" in cli("runs", "rm", run).err


def test_objects_are_stored_and_read_as_they_are(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"\x00\xff")
    assert cli("objects", "put", "files", "a/b", tmp_path / "in").code == 0
    assert cli("objects", "get", "files", "a/b", "-o", tmp_path / "out").code == 0
    cli("objects", "put", "files", "text", "-", stdin="hello")
    assert cli("objects", "get", "files", "text", "-o", "-").out == "hello"
    assert (tmp_path / "out").read_bytes() == b"\x00\xff"
    assert cli("objects", "list", "--json").documents[0]["space"] == "files"
    assert cli("objects", "list", "files", "--json").documents[0]["key"] == "a/b"
    assert cli("objects", "rm", "files", "a/b").code == 0
    assert "objects list" in cli("objects", "get", "files", "a/b").err
    assert "can't read" in cli("objects", "put", "files", "a", tmp_path / "absent").err


def test_the_version_and_a_completion_need_no_server(cli: Cli) -> None:
    bare = Cli(cli.home)
    assert bare("--version").out.startswith("agent-memory ")
    script = bare("completion", "bash")
    assert script.code == 0, script.err
    assert "conversations" in script.out


def test_an_empty_key_says_how_to_give_one(cli: Cli) -> None:
    refused = cli("login", "http://127.0.0.1:1")
    assert (refused.code, "agent-memory login URL < FILE" in refused.err) == (2, True)


def test_json_of_one_thing_is_one_value(cli: Cli) -> None:
    assert json.loads(cli("principals", "me", "--json").out)["id"] == "admin"


def test_facts_are_consolidated(tenant: Tenant) -> None:
    cli = tenant.cli()
    for what in ("Rome", "rome"):
        fact = {"subject": "acme", "predicate": "is in", "object": what}
        tenant.http.post("/api/v1/facts", json=fact).raise_for_status()
    planned = cli("consolidation", "preview", "--json").document
    assert [each["reason"] for each in planned["merged"]] == ["same_spelling"]
    id = cli("consolidation", "start", "--json").document["id"]
    assert cli("consolidation", "show", id, "--json").document["status"] == "running"
    assert cli("consolidation", "undo", id, "--json").document["status"] == "undone"
    assert cli("consolidation", "show", "none").code == 1
    changed = cli("consolidation", "settings", "--every", "never", "--end-below", "0.1", "--json")
    assert (changed.document["every"], changed.document["end_below"]) == (None, 0.1)
    assert cli("consolidation", "settings", "--json").document == changed.document


def test_strategies_are_set_and_shown(tenant: Tenant) -> None:
    cli = tenant.cli()
    made = cli("strategies", "set", "likes", "preferences", "--messages", "5", "--json").document
    assert (made["kind"], made["trigger"]) == ("preferences", {"messages": 5, "idle": None})
    assert "likes" in cli("strategies", "list").out
    assert cli("strategies", "show", "likes", "--json").document == made
    assert cli("strategies", "status", "likes", "--json").document["learned"] == 0
    assert cli("strategies", "delete", "likes").code == 0
    assert cli("strategies", "delete", "likes").code == 1
