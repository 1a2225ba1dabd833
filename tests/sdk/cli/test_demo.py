"""`agent-memory demo`: something of every kind of memory, to look at."""

from datetime import timedelta

from agent_memory import Client

from tests.sdk.cli.conftest import Tenant


def test_the_demo_shows_every_kind_of_memory(tenant: Tenant) -> None:
    told = tenant.cli()("demo", "--json").document
    assert told["console"] == f"{tenant.server.address}/console"
    with Client(tenant.server.address, tenant.api_key) as admin:
        team = {each.id: each for each in admin.principals.list()}
        assert team.keys() > {"lead", "frontline", "billing"}
        _assert_learned(admin)
        _assert_worked(admin)
        assert [each.space for each in admin.objects.list_spaces()] == ["reports"]
        assert len(list(admin.audit.list())) > 5
        key = admin.principals.rotate("lead").api_key
    log = tenant.http.get("/api/v1/agents/billing/events?type=memory.evicted")
    assert len(log.json()["events"]) == 2
    with Client(tenant.server.address, key) as lead:
        _assert_two_months(lead)


def _assert_learned(admin: Client) -> None:
    facts = admin.facts.query().list()
    assert any(each.learned_count == 2 for each in facts)
    policies = admin.memory.query(memory_type="semantic", namespace="policies").list()
    assert sorted(each.version for each in policies)[-2:] == [2, 3]
    assert {each.status for each in admin.runs.query()} == {"completed", "failed"}
    chosen = {each.workflow_id: each.mean for each in admin.procedures.list("support", "slow-line")}
    assert max(chosen, key=chosen.__getitem__) == "measure-first"


def _assert_worked(admin: Client) -> None:
    tasks = {each.name: each for each in admin.tasks.list("march-outage")}
    assert tasks["Collect outage reports"].status == "completed"
    assert tasks["Refund affected customers"].assigned_agent == "billing"
    explained = admin.tasks.get("task_explain-charges-to-ada")
    assert (explained.assigned_agent, bool(explained.hand_over_note)) == ("frontline", True)


def _assert_two_months(lead: Client) -> None:
    changed = lead.facts.query(user_id="ada", predicate="has contract", ended=True).list()
    assert {each.object for each in changed} == {"Fibre 100", "Fibre 500"}
    levels = lead.facts.query(predicate="has service level", user_id="chen")
    assert sorted(each.object for each in levels) == ["four hours", "next working day"]
    talks = lead.conversations.list().list()
    assert len(talks) == 40
    first = lead.conversations.get("ada-welcome").messages[0]
    memories = lead.memory.query(namespace="users/ada/memory").list()
    router = next(each for each in memories if "Falcon 2" in each.value["text"])
    assert [each.session_id for each in lead.list_answers(f"e.{router.id}")] == ["ada-slow-line"]
    (contract,) = lead.facts.query(user_id="ada", predicate="has contract")
    assert [each.session_id for each in lead.list_answers(f"f.{contract.fact_id}")] == ["ada-move"]
    assert len(memories) == 35
    assert all(each.occurred_at and each.created_at > each.occurred_at for each in memories)
    oldest = min(each.occurred_at for each in memories if each.occurred_at)
    assert memories[0].created_at - oldest > timedelta(days=55)
    assert first.timestamp
    assert memories[0].created_at - first.timestamp > timedelta(days=55)


def test_a_second_demo_changes_nothing_and_says_so(tenant: Tenant) -> None:
    tenant.agent("lead")
    refused = tenant.cli()("demo")
    assert (refused.code, "Look at it: http" in refused.err) == (3, True)
