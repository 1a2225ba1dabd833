"""100,000 episodes a tenant, a warning at 80,000, counted off the write path."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from functions.platform import item_types
from functions.platform.aws import create_client
from functions.platform.table import Table
from functions.platform.writes import delete, update
from functions.usage.store import UsageStore
from tests.contract.bodies import create, entry
from tests.contract.expect import refused
from tests.contract.faults import faulty
from tests.contract.run_calls import DAY, append, recall, start, stored_episodes, try_append
from tests.contract.service import Service, Tenant
from tests.contract.streaming import FakeEventBridge, Stream, sequence, stream_function
from tests.contract.transport import MovableClock

pytestmark = pytest.mark.parametrize("engine", ["dynoxide"], indirect=True)
Counted = Callable[[], int]


@pytest.fixture
def counted(service: Service, tenant: Tenant) -> Counted:
    store = UsageStore(_table(service), service.clock)
    return lambda: store.get_episodes(tenant.id).number


def _table(service: Service) -> Table:
    return Table(create_client("dynamodb"), service.engine.memory)


def fill(service: Service, tenant: Tenant, episodes: int, *, seconds: float = 15) -> None:
    """Lets the tenant have more episodes, or fewer, for so long that a function knows it."""
    key = item_types.USAGE.build_key(tenant.id)
    _table(service).update(update(key, "ADD items_episodes :more", more=episodes))
    service.clock.advance(seconds=seconds)


def test_a_repeated_record_counts_once(
    service: Service, agent: httpx.Client, counted: Counted
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    run = start(agent)
    for number in range(3):
        append(agent, run, number)
    append(agent, run, 0, key="k")
    append(agent, run, 0, key="k")
    foreign = service.tenant()
    append(foreign.admin, start(foreign.admin), "not the tenant's")
    records = stream.read()
    for _ in range(3):
        assert deliver(records) == []
    assert counted() == len(stored_episodes(service)) - 1 == 4


def throttled() -> ClientError:
    """Return DynamoDB's answer to a write that it throttles."""
    answer = {"Error": {"Code": "ThrottlingException", "Message": "slow down"}}
    return ClientError(answer, "PutItem")


def test_a_record_after_a_failed_one_counts_once(
    service: Service, agent: httpx.Client, counted: Counted
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    run = start(agent)
    for number in range(2):
        append(agent, run, number)
    *before, last = stream.read()
    create(agent, entry())
    failing = [each for each in stream.read() if "nonce" in each["dynamodb"]["NewImage"]]
    later = {**last, "dynamodb": dict(last["dynamodb"])}
    later["dynamodb"]["SequenceNumber"] = str(int(sequence(failing[-1])) + 1)
    with faulty(at=1, error=throttled()):
        deliver_without_log = stream_function(service)
    assert deliver_without_log([*before, *failing, later]) == [sequence(failing[-1])]
    assert counted() == 1
    assert deliver([*failing, later]) == []
    assert counted() == 2


def test_a_used_up_quota_limits_its_tenant_alone(
    service: Service, tenant: Tenant, agent: httpx.Client
) -> None:
    run = start(agent)
    fill(service, tenant, 100_000)
    problem = refused(try_append(agent, run["id"], 1), 429, "CAPACITY_EXCEEDED")
    assert problem["limit"] == "episodes"
    assert (problem["current_count"], problem["max_capacity"]) == (100_000, 100_000)
    assert stored_episodes(service) == []
    other = service.tenant().admin
    append(other, start(other), "has room")


def test_the_last_episode_of_a_quota_is_accepted_once(
    service: Service, tenant: Tenant, agent: httpx.Client, clock: MovableClock
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    run = start(agent)
    fill(service, tenant, 99_998)
    for _ in range(2):
        append(agent, run, "kept", key="k")  # a retry takes no place
    append(agent, run, "the last")
    assert deliver(stream.read()) == []
    clock.advance(seconds=15)
    refused(try_append(agent, run["id"], "one more"), 429, "CAPACITY_EXCEEDED")


def test_expired_episodes_free_the_quota(
    service: Service, tenant: Tenant, agent: httpx.Client, clock: MovableClock
) -> None:
    stream, deliver = Stream(service), stream_function(service)
    append(agent, start(agent), "expires")
    fill(service, tenant, 99_999)
    assert deliver(stream.read()) == []
    clock.advance(seconds=91 * DAY)
    refused(try_append(agent, start(agent)["id"], 1), 429, "CAPACITY_EXCEEDED")
    (expired,) = stored_episodes(service)
    _table(service).write_many([delete((expired["pk"], expired["sk"]))])  # as DynamoDB does
    assert deliver(stream.read()) == []
    clock.advance(seconds=60)
    run = start(agent)
    append(agent, run, "again")
    assert deliver(stream.read()) == []
    clock.advance(seconds=60)
    refused(try_append(agent, run["id"], "one more"), 429, "CAPACITY_EXCEEDED")
    assert recall(agent, agent_type="sdr") == ["again"]


def test_another_functions_appends_are_seen_within_a_minute(
    service: Service, tenant: Tenant, agent: httpx.Client, clock: MovableClock
) -> None:
    run = start(agent)
    append(agent, run, "looked up")
    fill(service, tenant, 100_000, seconds=0)
    append(agent, run, "not seen yet")
    clock.advance(seconds=60)
    refused(try_append(agent, run["id"], "seen"), 429, "CAPACITY_EXCEEDED")


def test_a_tenant_is_warned_once_each_time_it_reaches_the_warning(
    service: Service, tenant: Tenant, agent: httpx.Client
) -> None:
    bus = FakeEventBridge()
    stream, deliver = Stream(service), stream_function(service, bus)

    def warned(episodes: int) -> list[dict[str, Any]]:
        run = start(agent)
        for number in range(episodes):
            append(agent, run, number)
        assert deliver(stream.read()) == []
        return bus.accepted

    fill(service, tenant, 79_998)
    assert warned(1) == []
    (told,) = warned(1)
    assert (told["type"], told["subject"]) == ("quota.warning", "episodes")
    wanted = {"limit": "episodes", "current_count": 80_000, "max_capacity": 100_000}
    assert told["data"] == wanted | {"tenant": tenant.id}
    assert len(warned(3)) == 1
    fill(service, tenant, -80_000)
    assert len(warned(1)) == 1
    fill(service, tenant, 80_000)
    assert len(warned(1)) == 2


def test_a_warning_that_the_bus_refuses_is_repeated_by_a_later_append(
    service: Service, tenant: Tenant, agent: httpx.Client
) -> None:
    bus = FakeEventBridge()
    stream, deliver = Stream(service), stream_function(service, bus)
    fill(service, tenant, 80_000)
    run = start(agent)
    about_no_entry: set[str | None] = {None}
    for bus.refused in (about_no_entry, set()):
        append(agent, run, 1)
        assert deliver(stream.read()) == []
    assert [each["data"]["current_count"] for each in bus.accepted] == [80_002]
