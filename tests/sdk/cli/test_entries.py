"""`agent-memory set get query rm summary`, as a user sees them (RFC-0015 §4)."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.terminal import Cli

BIG = 10**300 + 7
VALUE: dict[str, Any] = {
    "big": BIG,
    "float": 1.0,
    "int": 1,
    "tiny": 5e-324,
    "zero": -0.0,
    "text": "\x00\x1b[31m\u202e\ue000🤖\U000e0041\x9b",
}


def test_an_entry_is_set_shown_listed_and_removed(cli: Cli) -> None:
    made = cli("set", "billing", "limits", '{"most": 10}', "--tag", "a", "--tag", "b")
    assert made.code == 0
    assert "entry    billing / limits\n" in made.out
    assert "tags     a, b\n" in made.out
    shown = cli("get", "billing", "limits")
    assert shown.out == made.out + '\n{\n  "most": 10\n}\n'
    headings, row = cli("query", "--tag", "a").out.splitlines()
    assert headings.split() == ["NAMESPACE", "KEY", "TYPE", "VERSION", "UPDATED", "TAGS", "VALUE"]
    assert row.split()[:4] == ["billing", "limits", "working", "1"]
    assert row.endswith('  a,b   {"most":10}')
    assert cli("rm", "billing", "limits").code == 0
    assert cli("query").out.splitlines() == ["NAMESPACE  KEY  TYPE  VERSION  UPDATED  TAGS  VALUE"]


def test_json_gives_the_entry_as_the_service_answers_it(tenant: Tenant) -> None:
    cli = tenant.cli()
    made = cli("--json", "set", "ns", "k", json.dumps(VALUE)).document
    assert tenant.http.get(f"/api/v1/memory/{made['id']}").json() == made
    assert cli("get", "ns", "k", "--json").document == made
    assert cli("get", made["id"], "--json").document == made
    assert cli("query", "--json").documents == [made]


def test_a_value_comes_back_exactly(cli: Cli, tmp_path: Path) -> None:
    text = json.dumps(VALUE)
    (tmp_path / "value").write_text(text)
    assert cli("set", "ns", "marked", "-", stdin=f"\ufeff{text}").code == 0
    assert json.loads(cli("get", "ns", "marked", "--value").out) == VALUE
    for key, given in (("argument", text), ("stdin", "-"), ("file", f"@{tmp_path / 'value'}")):
        assert cli("set", "ns", key, given, stdin=text).code == 0
        got = cli("get", "ns", key, "--value")
        assert json.dumps(json.loads(got.out)) == text


def test_set_takes_every_field(cli: Cli) -> None:
    made = cli(
        *("set", "ns", "k", "{}", "--type", "episodic", "--pinned", "--priority", "high"),
        *("--sensitivity", "internal", "--expires-at", "2199-01-01T00:00:00Z", "--json"),
    ).document
    assert made["memory_type"] == "episodic"
    assert (made["pinned"], made["priority"], made["sensitivity"]) == (True, "high", "internal")
    assert made["expires_at"] == "2199-01-01T00:00:00.000Z"
    scoped = cli("set", "ns", "t", "{}", "--task", "task_1", "--ttl", "task_lifetime", "--json")
    assert scoped.document["scope"] == {"task_id": "task_1"}
    assert scoped.document["ttl"] == "task_lifetime"


def test_set_replaces_only_what_the_user_has_seen(cli: Cli) -> None:
    cli("set", "ns", "k", '{"n": 1}')
    taken = cli("set", "ns", "k", '{"n": 2}')
    assert taken.code == 3
    assert "ns / k exists, at version 1; --version 1 or --overwrite" in taken.err
    assert cli("set", "ns", "k", '{"n": 3}', "--version", "1").code == 0
    outdated = cli("set", "ns", "k", '{"n": 4}', "--version", "1")
    assert (outdated.code, "VERSION_MISMATCH" in outdated.err) == (3, True)
    assert cli("get", "ns", "k", "--value").out == '{"n":3}\n'
    assert cli("set", "ns", "k", '{"n": 5}', "--overwrite").code == 0
    assert cli("get", "ns", "k", "--value").out == '{"n":5}\n'


def test_any_name_is_found_again(cli: Cli, subtests: pytest.Subtests) -> None:
    cli("set", "billing*2", "k", '{"other": true}')
    for namespace in ("billing*", "*", "a/b c", "-x", "é", "\u202e"):
        name = ("--", namespace, "k")
        with subtests.test(namespace):
            assert cli("set", "--type", "semantic", *name, "{}").code == 0
            assert cli("get", "--json", *name).document["namespace"] == namespace
            assert cli("set", "--type", "semantic", "--overwrite", *name, "{}").code == 0
            assert cli("rm", *name).code == 0
            assert cli("get", *name).code == 1


def test_rm_removes_only_the_version_that_is_named(cli: Cli) -> None:
    cli("set", "ns", "k", "{}")
    assert cli("rm", "ns", "k", "--version", "2").code == 3
    assert cli("rm", "ns", "k", "--version", "1").code == 0
    gone = cli("rm", "ns", "k")
    assert (gone.code, "there is no entry ns / k" in gone.err) == (1, True)


def test_query_filters_as_the_service_does(tenant: Tenant) -> None:
    cli = tenant.cli()
    tenant.create(namespace="a.1", key="x", tags=["t", "u"])
    tenant.create(namespace="a.2", key="y", tags=["t"], memory_type="episodic", pinned=True)
    tenant.create(namespace="b", key="z", memory_type="semantic", tags=["u"])
    tenant.create(namespace="c", key="w", memory_type="episodic", scope={"task_id": "task_1"})

    def keys(*filters: str) -> list[str]:
        return [each["key"] for each in cli("query", "--json", *filters).documents]

    assert keys() == ["w", "z", "y", "x"]
    assert keys("--namespace", "a.*") == ["y", "x"]
    assert keys("--tag", "t", "--tag", "u") == ["x"]
    assert keys("--any-tag", "t", "--any-tag", "u") == ["z", "y", "x"]
    assert keys("--type", "semantic") == ["z"]
    assert keys("--agent", "admin", "--pinned") == ["y"]
    assert keys("--no-pinned") == keys("--task", "task_1") == keys("--limit", "1") == ["w"]
    assert keys("--key", "none") == []


def test_a_table_says_when_it_is_not_all(tenant: Tenant) -> None:
    entries = [
        {"namespace": "ns", "key": f"k{n}", "value": {}, "memory_type": "episodic"}
        for n in range(101)
    ]
    for start in (0, 50, 100):
        tenant.http.post("/api/v1/memory/batch", json={"entries": entries[start : start + 50]})
    table = tenant.cli()("query")
    assert len(table.out.splitlines()) == 101
    assert table.err == "agent-memory: there are more than 100 entries; use --limit to show more\n"
    assert len(tenant.cli()("query", "--limit", "200").out.splitlines()) == 102
    assert len(tenant.cli()("query", "--json").documents) == 101


def test_summary_shows_what_an_agent_holds(tenant: Tenant) -> None:
    tenant.create(memory_type="episodic", pinned=True)
    tenant.create(namespace="shared", memory_type="semantic")
    shown = tenant.cli()("summary").out
    assert "episodic           1 of 1,000 entries, 1 KB, 1 pinned\n" in shown
    assert "semantic           shared\n" in shown
    assert tenant.cli()("summary", "--json").document["episodic"]["entry_count"] == 1


def test_entries_are_searched_with_scores_and_what_matched(cli: Cli) -> None:
    cli("set", "incidents", "one", '{"text": "INC-4821 was an expired certificate"}')
    found: list[Any] = []
    deadline = time.monotonic() + 60
    while not found and time.monotonic() < deadline:
        found = cli("search", "INC-4821", "--min-score", "0.3", "--json").documents
    assert found[0]["entry"]["key"] == "one"
    headings, row = cli("search", "INC-4821", "--namespace", "incidents").out.splitlines()
    assert headings.split() == ["SCORE", "NAMESPACE", "KEY", "TYPE", "MATCHED", "VALUE"]
    assert row.split()[1:5] == ["incidents", "one", "working", "inc,4821,inc-4821"]
    assert cli("search", "INC-4821", "--min-score", "2").code == 2


def test_entries_are_searched_by_ones_own_vectors_and_fields(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "vector.json"
    file.write_text(str([1.0] * 64))
    written = cli("set", "v", "k", '{"kind": "a"}', "--vector", f"@{file}", "--json").document
    assert written["vector_length"] == 64
    (found,) = cli("search", "--vector", f"@{file}", "--namespace", "v", "--json").documents
    assert (found["entry"]["key"], found["score"]) == ("k", 1)
    asked = ("search", "--vector", f"@{file}", "--namespace", "v", "--fields")
    assert "fields.kind" in cli(*asked, '{"kind": "a"}').err
    assert cli(*asked, "[]").code == cli("set", "v", "k", "{}", "--vector", "1").code == 2


def test_an_entry_is_shown_as_it_was(tenant: Tenant) -> None:
    cli = tenant.cli()
    name = ("notes", "plan")
    cli("set", *name, '{"n": 1}', "--type", "semantic")
    cli("set", *name, '{"n": 2}', "--type", "semantic", "--overwrite")
    assert cli("get", *name, "--version", "1", "--value").out == '{"n":1}\n'
    assert cli("get", *name, "--as-of", "2100-01-01", "--value").out == '{"n":2}\n'
    listed = cli("query", "--namespace", "notes", "--as-of", "2100-01-01", "--json").documents
    assert [each["value"] for each in listed] == [{"n": 2}]
    assert cli("get", *name, "--as-of", "2000-01-01").code == 1
    assert cli("rm", *name, "--history").code == 0
    assert cli("get", *name, "--version", "1").code == 1
    assert cli("get", *name, "--value").out == '{"n":2}\n'
