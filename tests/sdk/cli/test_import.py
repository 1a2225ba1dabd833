"""Test that `agent-memory import` is exact, restartable, and clear about conflicts."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.filling import content, fill
from tests.sdk.cli.terminal import Cli
from tests.sdk.fault_proxy import Exchange, proxy_to

BIG = 10**300 + 7
VALUE: dict[str, Any] = {
    "big": [BIG, -BIG, 2**53 + 1],
    "floats": [1.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1, 1e22],
    "ints": [1, 0, True, None],
    "": "\x00\x1b\x9b\u2028\ufeff\uffff🤖\U0010ffff e\u0301",
}


def jsonl(*entries: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in entries)


def an_entry(**fields: Any) -> dict[str, Any]:
    return {"namespace": "ns", "key": "k", "value": {"n": 1}, "memory_type": "working"} | fields


def test_what_was_exported_is_imported_exactly(tenant: Tenant, another: Tenant) -> None:
    later = "2199-01-01T00:00:00.123Z"
    every: list[dict[str, Any]] = [
        {"value": VALUE, "tags": ["b", "a", "\u202e,"], "namespace": "é\x00", "key": "*"},
        {"ttl": "duration:P30D", "sensitivity": "confidential"},
        {"expires_at": later, "ttl": "duration:PT1H", "sensitivity": "restricted"},
        {"scope": {"task_id": "task_1", "intent_id": "i"}, "ttl": "task_lifetime"},
        {"memory_type": "episodic", "pinned": True, "priority": "high", "vector": [0.5] * 64},
        {"memory_type": "episodic", "pinned": False, "priority": "low", "expires_at": later},
        {"memory_type": "semantic", "agent_id": "somebody", "tags": ["t"]},
    ]
    for number, fields in enumerate(every):
        tenant.create(**({"key": f"k{number}"} | fields))
    exported = tenant.cli()("export")
    imported = another.cli()("import", stdin=exported.out)
    assert (imported.code, imported.out) == (0, "")
    assert imported.err == "agent-memory: import: 7 written\n"
    again = another.cli()("export")
    assert content(again.documents) == content(exported.documents)
    assert [each["vector"] for each in again.documents if "vector" in each] == [[0.125] * 64]
    (entry,) = another.cli()("query", "--key", "*", "--json").documents
    assert json.dumps(entry["value"]) == json.dumps(VALUE)


def test_a_taken_slot_ends_the_import_with_a_clear_report(tenant: Tenant) -> None:
    tenant.create(key="k2", value={"mine": "private"})
    lines = jsonl(*(an_entry(key=f"k{number}") for number in range(5)))
    refused = tenant.cli()("import", stdin=lines)
    assert refused.code == 3
    done, told = refused.err.splitlines()
    assert done == "agent-memory: import: 2 written"
    assert "line 3 (ns / k2): version 1 of this entry exists, with another value" in told
    assert "--on-conflict skip" in told
    assert "private" not in told
    held = tenant.cli()("query", "--json").documents
    assert sorted(each["key"] for each in held) == ["k0", "k1", "k2"]


@pytest.mark.parametrize(
    ("policy", "counts", "value"),
    [
        ("skip", {"written": 4, "skipped": 1}, {"old": 1}),
        ("overwrite", {"written": 4, "overwritten": 1}, {"n": 1}),
    ],
)
def test_a_taken_slot_is_skipped_or_overwritten_if_the_user_says_so(
    tenant: Tenant, policy: str, counts: dict[str, int], value: dict[str, int]
) -> None:
    tenant.create(key="k2", value={"old": 1}, tags=["old"])
    lines = jsonl(*(an_entry(key=f"k{number}", tags=[]) for number in range(5)))
    run = ("--json", "import", "--on-conflict", policy)
    got = tenant.cli()(*run, stdin=lines).document
    assert {name: count for name, count in got.items() if count} == counts
    (entry,) = tenant.cli()("query", "--key", "k2", "--json").documents
    assert entry["value"] == value
    before = tenant.cli()("export").out
    assert tenant.cli()(*run, stdin=lines).code == 0
    assert tenant.cli()("export").out == before


def test_an_overwrite_meets_whoever_else_writes(tenant: Tenant) -> None:
    made = tenant.create(value={"old": 0})
    path = f"/api/v1/memory/{made['id']}"
    version = 1

    def outrun(exchange: Exchange) -> None:
        nonlocal version
        if exchange.request.method == "PATCH" and version < 4:
            headers = {"If-Match": str(version)}
            tenant.http.patch(path, json={"value": {"old": version}}, headers=headers)
            version += 1
        exchange.send(exchange.forward())

    with proxy_to(tenant.server.address) as proxy:
        proxy.follow(itertools.repeat(outrun))
        cli = tenant.cli().at(proxy.address)
        done = cli("import", "--on-conflict", "overwrite", stdin=jsonl(an_entry()))
    assert done.code == 0, done.err
    assert tenant.http.get(path).json()["value"] == {"n": 1}
    assert tenant.http.get(path).json()["version"] == 5


def test_what_can_not_be_changed_is_not_overwritten(tenant: Tenant) -> None:
    tenant.create(memory_type="episodic")
    refused = tenant.cli()("import", "--on-conflict", "overwrite", stdin=jsonl(an_entry()))
    assert refused.code == 1
    assert "line 1 (ns / k): an entry's memory_type can't be changed; rm it first" in refused.err


def test_a_slot_twice_in_a_file_is_a_conflict_unless_the_lines_agree(tenant: Tenant) -> None:
    lines = jsonl(an_entry(), an_entry())
    assert tenant.cli()("import", stdin=lines).code == 0
    differing = jsonl(an_entry(key="x"), an_entry(key="x", value={"n": 2}))
    assert tenant.cli()("import", stdin=differing).code == 3
    assert tenant.cli()("import", "--on-conflict", "overwrite", stdin=differing).code == 0
    assert tenant.cli()("get", "ns", "x", "--value").out == '{"n":2}\n'


def test_what_has_expired_is_left_out(tenant: Tenant) -> None:
    past, soon = "2020-01-01T00:00:00Z", "2199-01-01T00:00:00Z"
    lines = jsonl(an_entry(expires_at=past), an_entry(key="x", expires_at=soon))
    done = tenant.cli()("import", stdin=lines)
    assert (done.code, "1 written, 1 expired" in done.err) == (0, True)


def test_an_import_fills_a_limit_and_says_where_it_ended(tenant: Tenant) -> None:
    lines = jsonl(*(an_entry(key=f"k{number}") for number in range(120)))
    full = tenant.cli()("import", stdin=lines)
    assert full.code == 1
    assert "import: 100 written" in full.err
    assert "line 101 (ns / k100): " in full.err
    assert "CAPACITY_EXCEEDED" in full.err


def test_batches_that_are_too_large_are_split(tenant: Tenant, another: Tenant) -> None:
    tags = [f"tag {number}" for number in range(40)]
    fill(tenant.http, 3, tags=tags, namespace="tagged")
    fill(tenant.http, 60, value={"pad": "é" * 30_000}, tags=["large"])
    exported = tenant.cli()("export").out.replace('"episodic"', '"semantic"')
    done = another.cli()("import", stdin=exported)
    assert (done.code, "63 written" in done.err) == (0, True)
    held = "".join(f"{line}\n" for line in exported.splitlines())
    assert content(another.cli()("export").documents) == content(map(json.loads, held.splitlines()))


def test_another_agents_private_entries_are_refused_or_reassigned(tenant: Tenant) -> None:
    lines = jsonl(an_entry(agent_id="agent_9"))
    refused = tenant.cli()("import", stdin=lines)
    assert refused.code == 1
    assert "line 1 (ns / k)" in refused.err
    assert "--reassign" in refused.err
    assert tenant.cli()("import", "--reassign", stdin=lines).code == 0
    assert tenant.cli()("query", "--json").documents[0]["agent_id"] == "admin"


def test_fields_of_a_newer_service_are_left_out_with_one_warning(tenant: Tenant) -> None:
    lines = jsonl(*(an_entry(key=f"k{number}", colour="red", title="t") for number in range(3)))
    imported = tenant.cli()("import", stdin=lines)
    assert imported.code == 0
    assert imported.err.splitlines() == [
        "agent-memory: line 1: this version doesn't know the field colour; it is left out",
        "agent-memory: line 1: this version doesn't know the field title; it is left out",
        "agent-memory: import: 3 written",
    ]
    assert {each["key"] for each in tenant.cli()("query", "--json").documents} == {"k0", "k1", "k2"}


BAD_LINES: list[tuple[str, str]] = [
    ("{", "not JSON"),
    ("[]", "an entry must be a JSON object"),
    ('{"namespace": "a"}', "key, value, memory_type is missing"),
    (json.dumps(an_entry(value=[])), "value"),
    (json.dumps(an_entry(memory_type="x")), "memory_type"),
    (json.dumps(an_entry(expires_at="soon")), "expires_at"),
    (json.dumps(an_entry(pinned=True)), "pinned"),
    (json.dumps(an_entry(tags="a")), "tags"),
    (json.dumps(an_entry(key="\ud800")), "surrogate"),
    (json.dumps(an_entry(value={"n": float("nan")})), "NaN"),
    (json.dumps(an_entry(value={"v": "x" * 70_000})), "VALUE_TOO_LARGE"),
    (json.dumps(an_entry(value={"v": "x" * 5_000_000})), "more than 4,194,304 bytes"),
    ('{"value":' + '{"a":' * 90_000, "nested too deeply"),
]


def test_a_bad_line_ends_the_import_and_is_named(tenant: Tenant, subtests: pytest.Subtests) -> None:
    for line, told in BAD_LINES:
        with subtests.test(told):
            lines = jsonl(an_entry(key="before")) + f"\n{line}\n" + jsonl(an_entry(key="after"))
            refused = tenant.cli()("import", stdin=lines)
            assert refused.code in (1, 2)
            assert "line 3" in refused.err
            assert told in refused.err
            assert "xxxx" not in refused.err
    held = tenant.cli()("query", "--json").documents
    assert "after" not in [each["key"] for each in held]


def test_lines_may_come_from_other_systems(tenant: Tenant) -> None:
    text = "\ufeff" + jsonl(an_entry(key="x"), an_entry(key="y")).replace("\n", "\r\n")
    assert tenant.cli()("import", stdin=text.rstrip()).code == 0
    assert len(tenant.cli()("query", "--json").documents) == 2


def test_bytes_that_are_no_utf_8_are_told(cli: Cli) -> None:
    told = cli("import", stdin=b'{"key": "\xff"}\n')
    assert (told.code, "line 1: byte 10 isn't UTF-8" in told.err) == (2, True)


def test_progress_shows_how_much_of_a_file_is_read(tenant: Tenant, tmp_path: Path) -> None:
    file = tmp_path / "entries.jsonl"
    file.write_text(jsonl(*(an_entry(key=f"k{n}", memory_type="episodic") for n in range(120))))
    shown = tenant.cli().at_terminal(60, "import", file)
    assert shown.code == 0
    assert "import  [" in shown.out
    assert shown.out.endswith("agent-memory: import: 120 written\n")


def test_lines_that_say_the_same_otherwise_are_no_conflict(tenant: Tenant) -> None:
    wanted = an_entry(
        tags=["a", "b"],
        expires_at="2199-01-01T00:00:00.000Z",
        scope={"intent_id": "i"},
        vector=[0.5] * 64,
    )
    tenant.create(**wanted)
    for line in (
        wanted | {"expires_at": "2199-01-01T01:00:00+01:00"},
        wanted | {"tags": ["a", "b", "a"], "scope": {"intent_id": "i", "task_id": None}},
        an_entry(),
    ):
        done = tenant.cli()("import", stdin=jsonl(line))
        assert (done.code, "import: 1 unchanged" in done.err) == (0, True)


CHANGES: list[dict[str, Any]] = [
    {"value": {"n": 1.0}},
    {"value": {"n": True}},
    {"tags": ["b", "a"]},
    {"sensitivity": "internal"},
    {"expires_at": None},
    {"ttl": "duration:PT1H"},
    {"vector": [0.5] * 64},
]


def test_lines_that_say_something_else_are_a_conflict(
    tenant: Tenant, subtests: pytest.Subtests
) -> None:
    stands = an_entry(tags=["a", "b"], expires_at="2199-01-01T00:00:00Z")
    tenant.create(**stands)
    for change in CHANGES:
        with subtests.test(str(change)):
            refused = tenant.cli()("import", stdin=jsonl(stands | change))
            assert refused.code == 3
            assert f"with another {next(iter(change))}" in refused.err
