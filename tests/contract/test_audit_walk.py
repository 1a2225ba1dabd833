"""Test what the audit log records of each route, by the caller's relation to the resource.

Each caller whom a row of the authorization matrix admits sends its request. The table lists what
is recorded: each use of authority, and each change of what another principal has made.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from functions.api.route_index import list_routes
from functions.platform.items import decode_item
from tests.contract.authorization_matrix import ROWS
from tests.contract.engines import Engine
from tests.contract.everything import CALLERS, SECRET, Everything, set_up, sort_items
from tests.contract.expect import ok
from tests.contract.service import Service

_CONVERSATION = "/api/v1/conversations/{session_id}"
_OBJECTS = ("/api/v1/objects/{space}", "/api/v1/agents/{agent_id}/objects/{space}")
_PROCEDURE = "/api/v1/procedures/{agent_type}/{task_type}/{workflow_id}"
_RUN = "/api/v1/runs/{run_id}"
ALWAYS: dict[str, set[str]] = {
    "PATCH /api/v1/memory/namespaces/{namespace}": {"namespace.change"},
    "PATCH /api/v1/agents/{agent_id}/memory/config": {"agent.configure"},
    "PATCH /api/v1/coordinators/{coordinator_id}/guardrails": {"guardrails.change"},
    "POST /api/v1/remember": {"namespace.claim"},
    "DELETE /api/v1/tasks/{task_id}/grants/{principal}": {"task.revoke_grant"},
    "PUT /api/v1/tasks/{task_id}/grants/{principal}": {"task.grant"},
    "PUT /api/v1/intents/{intent_id}/acl": {"intent.set_acl"},
    "PUT /api/v1/intents/{intent_id}/owner": {"intent.set_owner"},
    "POST /api/v1/tasks": {"task.register"},
    "PATCH /api/v1/tasks/{task_id}": {"task.change"},
    "POST /api/v1/workflows": {"workflow.apply"},
    "PUT /api/v1/facts/predicates/{predicate}": {"predicate.declare"},
    "PUT /api/v1/strategies/{name}": {"strategy.change"},
    "DELETE /api/v1/strategies/{name}": {"strategy.delete"},
    "POST /api/v1/consolidation": {"consolidation.run"},
    "POST /api/v1/consolidation/{id}/undo": {"consolidation.undo"},
    "PUT /api/v1/consolidation/settings": {"consolidation.change"},
    "POST /api/v1/deletions": {"agent.delete", "principal.revoke"},
    "POST /api/v1/principals": {"principal.create"},
    "PATCH /api/v1/principals/{id}": {"principal.change"},
    "POST /api/v1/principals/{id}/rotate": {"principal.rotate_key"},
    "DELETE /api/v1/principals/{id}": {"principal.revoke"},
    **{f"PATCH {each}": {"object-space.change"} for each in _OBJECTS},
}
"""Routes that use authority: the call of every caller is recorded."""
OF_OTHERS: dict[str, set[str]] = {
    f"DELETE {_CONVERSATION}": {"conversation.delete"},
    f"DELETE {_CONVERSATION}/archive": {"conversation.delete"},
    "DELETE /api/v1/agents/{agent_id}/state/{owner_id}/{key}": {"state.delete"},
    "POST /api/v1/forget": {"user.forget"},
    "DELETE /api/v1/facts/{fact_id}": {"fact.delete"},
    "DELETE /api/v1/facts": {"fact.delete"},
    f"PUT {_PROCEDURE}": {"procedure.write"},
    f"DELETE {_PROCEDURE}": {"procedure.delete"},
    f"POST {_RUN}/complete": {"run.end"},
    f"POST {_RUN}/fail": {"run.end"},
    f"POST {_RUN}/episodes": {"run.append"},
    f"DELETE {_RUN}": {"run.delete", "episodes.delete"},
    "DELETE /api/v1/runs": {"run.delete", "episodes.delete"},
    f"DELETE {_RUN}/episodes/{{episode_id}}": {"episodes.delete"},
    "DELETE /v1/runs/{runId}": {"openwop-run.delete"},
    "DELETE /v1/memory/{memoryRef}/{id}": {"openwop-entry.delete"},
    "POST /v1/runs/{runId}/secrets": {"openwop-run.change"},
    "POST /v1/runs/{runId}/end": {"openwop-run.change"},
    **{f"DELETE {each}": {"object.delete"} for each in _OBJECTS},
    **{f"DELETE {each}/{{key}}": {"object.delete"} for each in _OBJECTS},
}
"""Something that another principal has made is changed or deleted; its maker leaves no record."""
FACT = {"subject": "s", "predicate": "p"}
REPLACES = {"replaces": "same_subject_predicate"}
FURTHER: list[tuple[str, Any, set[str]]] = [
    ("POST /api/v1/facts", FACT | {"object": SECRET}, {"fact.change"}),
    ("POST /api/v1/facts", FACT | {"object": "o", "fact_id": "<fact>"}, {"fact.change"}),
    ("POST /api/v1/facts", FACT | {"object": "o"} | REPLACES, {"fact.change"}),
    ("POST /api/v1/facts/batch", {"facts": [FACT | {"object": SECRET}]}, {"fact.change"}),
    ("POST /api/v1/facts/batch", {"facts": [FACT | {"object": "o"} | REPLACES]}, {"fact.change"}),
]
"""Other bodies than that of the matrix, by which a call changes what another principal has made."""
_AUTHORS = ("created_by", "learned_by", "put_by", "started_by", "writer", "agent_id")


@pytest.fixture(scope="module")
def everything(session_service: Service, engine: Engine) -> Iterator[Everything]:
    """One scene for all rows: what a call changes is put back."""
    yield set_up(session_service)
    engine.empty_tables()


def _find_records(everything: Everything, answer: httpx.Response) -> set[str]:
    """The actions that the tenant's audit log has of a request."""
    page = everything.clients["all"].get("/api/v1/audit", params={"limit": 100, "order": "desc"})
    id = answer.headers["x-request-id"]
    return {each["action"] for each in ok(page)["records"] if each["request_id"] == id}


def _list_admitted(route: str) -> Iterator[str]:
    """Whom the matrix admits to a route that may write, in the tenant of the scene."""
    row = ROWS[route]
    for caller, expected in zip(CALLERS, row.answers.split(), strict=True):
        if expected < "400" and caller != "foreign" and row.party != "root":
            yield caller


def test_the_table_has_what_routes_declare() -> None:
    routes = {f"{each.method} {each.openapi_path}": each for each in list_routes()}
    for route, actions in (ALWAYS | OF_OTHERS).items():
        declared = {each.name for each in routes[route].audited}
        assert actions <= declared | {"principal.revoke"}, route


def _find_changed(everything: Everything) -> set[str]:
    """The principals whose items the tables no longer have as they were."""
    now = sort_items(everything.tenant.service.stored())
    changed = [decode_item(each) for each in everything.stored if each not in now]
    return {str(each[name]) for each in changed for name in _AUTHORS if name in each}


def _list_calls() -> Iterator[tuple[str, Any, set[str]]]:
    """Each call that may write, and the records that it leaves if the target is another's."""
    writing = {f"{each.method} {each.openapi_path}" for each in list_routes() if each.may_write}
    for route in sorted(ROWS.keys() & writing):
        yield route, ROWS[route].body, OF_OTHERS.get(route, set())
    yield from FURTHER


@pytest.mark.in_process
@pytest.mark.usefixtures("parallel")
def test_a_record_is_left_by_the_relation_of_caller_and_target(
    everything: Everything, subtests: pytest.Subtests
) -> None:
    for route, body, of_others in _list_calls():
        row, method = ROWS[route], route.partition(" ")[0]
        for caller in _list_admitted(route):
            with subtests.test(f"{route} {body} {caller}"):
                client = everything.clients[row.party if caller == "party" else caller]
                path, headers = everything.render(row.path), everything.render(row.headers)
                answer = client.request(method, path, json=everything.render(body), headers=headers)
                assert answer.is_success, answer.text
                found, changed = _find_records(everything, answer), _find_changed(everything)
                everything.put_back()
                expected = set() if caller == "party" else of_others
                assert found == ALWAYS.get(route, expected)
                if not found:
                    id = ok(client.get("/api/v1/me"))["id"]
                    assert changed <= {id}
