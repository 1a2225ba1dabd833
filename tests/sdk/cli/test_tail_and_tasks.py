"""`agent-memory tail`, `tasks` and `workflow`, as a user sees them."""

import json
from pathlib import Path

import pytest

from tests.sdk.cli.conftest import Tenant
from tests.sdk.cli.terminal import PATIENCE, Cli

WORKFLOW = """\
name: invoices
version: "1.0"
memory:
  semantic_namespaces: [company_policies]
plan:
  - task: fetch
    agent: agent_a
"""


def test_tail_shows_the_last_events_of_ones_own_log(tenant: Tenant) -> None:
    for number in range(12):
        tenant.create(key=f"k{number}")
    cli = tenant.cli()
    await_events(cli, 12)
    lines = cli("tail").out.splitlines()
    assert len(lines) == 10
    assert lines[-1].split()[1:] == ["memory.created", "admin", "ns", "/", "k11", "(version", "1)"]
    (event,) = cli("tail", "-n", "1", "--json").documents
    assert (event["type"], event["data"]["key"]) == ("memory.created", "k11")
    assert cli("tail", "--event", "memory.deleted").out == ""


def await_events(cli: Cli, count: int) -> None:
    """Wait until the log has `count` events."""
    with cli.started("tail", "--follow", "--json", "-n", str(count)) as process:
        assert process.stdout is not None
        for _ in range(count):
            assert process.stdout.readline()


def test_tail_follows_a_log(tenant: Tenant) -> None:
    tenant.http.patch(
        "/api/v1/memory/namespaces/shared", json={"permissions": {"default": "write"}}
    ).raise_for_status()
    for arguments in (["--namespace", "shared"], ["--intent", "intent_1"]):
        scope = {"intent_id": "intent_1"} if arguments[0] == "--intent" else {}
        kind = "working" if scope else "semantic"
        tenant.create(namespace="shared", key="first", memory_type=kind, scope=scope)
        with tenant.cli().started("tail", "-f", *arguments) as process:
            assert process.stdout is not None
            assert b"shared / first (version 1)" in process.stdout.readline()
            tenant.create(namespace="shared", key="second", memory_type=kind, scope=scope)
            assert b"shared / second (version 1)" in process.stdout.readline()


def test_a_log_that_is_not_ones_own_is_refused(tenant: Tenant) -> None:
    tenant.create(scope={"intent_id": "intent_1"})
    stranger = tenant.cli(tenant.agent("stranger"))
    refused = stranger("tail", "--intent", "intent_1")
    assert (refused.code, "ACCESS_DENIED" in refused.err) == (1, True)


def test_tasks_are_listed_and_shown(tenant: Tenant) -> None:
    key = tenant.agent("agent_a")
    for number in range(3):
        body = {"id": f"task_{number}", "intent_id": "i", "assigned_agent": "agent_a"}
        tenant.http.post("/api/v1/tasks", json=body).raise_for_status()
    cli = tenant.cli()
    headings, *rows = cli("tasks", "list", "--intent", "i").out.splitlines()
    assert headings.split()[:4] == ["TASK", "STATUS", "ASSIGNED", "COORDINATOR"]
    assert [row.split()[0] for row in rows] == ["task_2", "task_1", "task_0"]
    assert cli("tasks", "list", "--intent", "i", "--status", "failed", "--json").documents == []
    shown = cli("tasks", "show", "task_1").out
    assert "assigned_agent  agent_a\n" in shown
    assert cli("tasks", "show", "task_1", "--json").document["id"] == "task_1"
    assigned = tenant.cli(key)("tasks", "assigned", "--json").documents
    assert [task["id"] for task in assigned] == ["task_2", "task_1", "task_0"]
    assert cli("tasks", "show", "task_9").code == 1


@pytest.mark.parametrize("how", ["file", "stdin"])
def test_a_workflow_is_applied(tenant: Tenant, tmp_path: Path, how: str) -> None:
    tenant.agent("agent_a")
    file = tmp_path / "flow.yaml"
    file.write_text(WORKFLOW)
    cli = tenant.cli()
    stdin = WORKFLOW if how == "stdin" else ""
    applied = cli("workflow", "apply", "-" if stdin else file, stdin=stdin)
    assert applied.code == 0, applied.err
    assert "namespaces  company_policies\n" in applied.out
    listed = cli("tasks", "list", "--intent", "workflow:invoices", "--json").documents
    assert [task["assigned_agent"] for task in listed] == ["agent_a"]


def test_a_workflows_mistake_is_told_with_its_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text(WORKFLOW.replace("agent: agent_a", "agnet: agent_a"))
    wrong = cli("workflow", "apply", file)
    assert wrong.code == 2
    assert "line 7" in wrong.err
    assert cli("workflow", "apply", tmp_path / "none").code == 2
    file.write_bytes(b"\xff")
    assert "isn't UTF-8" in cli("workflow", "apply", file).err


def test_an_interrupted_tail_leaves_the_log_readable(tenant: Tenant) -> None:
    tenant.create(value={"secret": "v" * 50})
    with tenant.cli().started("tail", "-f", "--json") as process:
        assert process.stdout is not None
        event = json.loads(process.stdout.readline())
        assert "v" * 50 not in json.dumps(event)
        process.stdout.close()
        tenant.create(key="more")
        assert process.wait(PATIENCE) == 141
