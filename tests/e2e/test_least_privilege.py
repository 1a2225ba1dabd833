"""Test what each role may do and may not do, one call at a time."""

import pytest

from infra.agent_memory_cdk import grants
from infra.agent_memory_cdk.grants import TableGrant
from tests.e2e.deployment import Deployment
from tests.e2e.fixtures import E2E
from tests.e2e.probe import allowed
from tests.e2e.probes import calls

pytestmark = E2E


def on(memory: TableGrant, log: TableGrant) -> set[str]:
    """The calls that the grants of a role let through."""
    return (
        {f"memory.{action}" for action in memory.actions}
        | {f"memory/{index}" for index in memory.indexes}
        | {f"log.{action}" for action in log.actions}
    )


_PRINCIPALS = {"a principal", "an API key"}
_ALL_ON_CREDENTIALS = {
    each.format(what)
    for what in _PRINCIPALS
    for each in (
        "read {}",
        "write {}",
        "write {} in a transaction",
        "delete {}",
        "delete {} in a batch",
    )
}

MAY = {
    "ApiFunction": on(grants.API_ON_MEMORY, grants.API_ON_LOG)
    | _ALL_ON_CREDENTIALS
    | {"read the root key", "archive", "read the archive", "delete from the archive"}
    | {"list the archive"}
    | {f"memory/{index}" for index in grants.SEARCH_IN_MEMORY.indexes}
    | {"generate_data_key with the values key", "decrypt with the values key"},
    "StreamFunction": on(grants.STREAM_ON_MEMORY, grants.STREAM_ON_LOG)
    | {"publish", "add to stream's dead letters"},
    "ScheduleFunction": on(grants.SCHEDULE_ON_MEMORY, grants.SCHEDULE_ON_LOG)
    | {"archive", "delete from the archive", "list the archive"}
    | {"delete a principal", "delete an API key"},
    "TaskEventsFunction": on(grants.TASK_EVENTS_ON_MEMORY, grants.TASK_EVENTS_ON_LOG)
    | {"add to task event's dead letters", "read a principal"},
    "ScheduleRole": {"invoke Schedule", "add to schedule's dead letters"},
}


@pytest.mark.parametrize("part", MAY)
def test_a_role_may_do_what_it_needs_and_nothing_else(deployment: Deployment, part: str) -> None:
    assert allowed(deployment, deployment.role(part), calls(deployment)) == MAY[part]
