"""`agent-memory demo`: something of every kind of memory, to look at."""

from agent_memory import Client

from tests.sdk.cli.conftest import Tenant


def test_the_demo_shows_every_kind_of_memory(tenant: Tenant) -> None:
    cli = tenant.cli()
    told = cli("demo", "--json").document
    assert told["console"] == f"{tenant.server.address}/console"
    with Client(tenant.server.address, tenant.api_key) as admin:
        assert {each.id for each in admin.principals.list()} > {"planner", "reader", "checker"}
        tasks = {each.id: each for each in admin.tasks.list("close-the-month")}
        assert tasks["task_read-invoices"].status == "completed"
        assert tasks["task_check-invoices"].assigned_agent == "checker"
        policies = admin.memory.query(memory_type="semantic", namespace="policies").list()
        assert sorted(each.version for each in policies) == [1, 2]
        assert {each.status for each in admin.runs.query()} == {"completed", "failed"}
        assert any(each.learned_count == 2 for each in admin.facts.query())
        chosen = admin.procedures.list("invoice-checker", "check")
        assert {each.workflow_id for each in chosen} == {"four-eyes", "totals-first"}
        assert [each.space for each in admin.objects.list_spaces()] == ["reports"]
        assert len(list(admin.audit.list())) > 5


def test_a_second_demo_changes_nothing_and_says_so(tenant: Tenant) -> None:
    tenant.agent("planner")
    refused = tenant.cli()("demo")
    assert (refused.code, "Look at it: http" in refused.err) == (3, True)
