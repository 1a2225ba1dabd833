"""The logs: each event once, in order, read from a position, by whom they concern."""

import secrets
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import httpx
import pytest

from benchmarks.capacity import recorded
from functions.events.model import Event, LogEventType, LogName, LogQuery, build_event_id
from functions.events.reader import EventLogReader
from functions.events.store import EventLogStore
from functions.identity.model import Actor
from functions.platform import item_types
from functions.platform.aws import create_client
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import delete, put
from tests.contract.bodies import NAMESPACES, allow, create, working
from tests.contract.expect import invalid, ok, refused
from tests.contract.faults import FaultyClient
from tests.contract.service import Service, Tenant
from tests.contract.transport import MovableClock

_DAY = 86_400  # seconds
AGENT, ADA = LogName("agent", "ada"), Actor("ada", "agent")
PATH = "/api/v1/agents/ada/events"


@pytest.fixture
def logs(service: Service) -> EventLogStore:
    return EventLogStore(Table(create_client("dynamodb"), service.engine.log), service.clock, 365)


def event(
    tenant: Tenant,
    cause: str,
    *,
    kind: LogEventType = "memory.created",
    at: int = 1_000,
    **data: Any,
) -> Event:
    id = build_event_id(tenant.id, cause)
    return Event(id, kind, tenant.id, "ada", ADA, None, None, {"cause": cause, **data}, at, AGENT)


def events(tenant: Tenant, count: int, prefix: str = "") -> list[Event]:
    return [event(tenant, f"{prefix}{number}") for number in range(count)]


def pages(reader: httpx.Client, path: str = PATH, **query: Any) -> Iterator[list[dict[str, Any]]]:
    """The pages of a log, until one is empty."""
    while True:
        page = ok(reader.get(path, params=query))
        if not page["events"]:
            return
        yield page["events"]
        query["after"] = page["next"]


def every(read: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return list(chain.from_iterable(read))


def causes(found: list[dict[str, Any]]) -> list[str]:
    return [each["data"]["cause"] for each in found]


def test_a_log_is_read_page_by_page_oldest_first(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore
) -> None:
    assert len(logs.append(tenant.id, AGENT, events(tenant, 120))) == 120
    read = list(pages(ada, limit=50))
    assert [len(page) for page in read] == [50, 50, 20]
    assert causes(every(read)) == [str(number) for number in range(120)]
    assert len(ok(ada.get(PATH))["events"]) == 100


def test_the_end_is_a_position_too(ada: httpx.Client, tenant: Tenant, logs: EventLogStore) -> None:
    start = ok(ada.get(PATH))
    assert start["events"] == []
    logs.append(tenant.id, AGENT, events(tenant, 2))
    first = ok(ada.get(PATH, params={"after": start["next"]}))
    assert causes(first["events"]) == ["0", "1"]
    again = ok(ada.get(PATH, params={"after": first["next"]}))
    assert again == {"events": [], "next": first["next"]}


def test_an_event_appended_again_is_logged_once(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore
) -> None:
    sixty = events(tenant, 60)
    assert logs.append(tenant.id, AGENT, sixty[:10]) == sixty[:10]
    assert logs.append(tenant.id, AGENT, [*sixty, *sixty]) == sixty[10:]
    assert logs.append(tenant.id, AGENT, sixty) == []
    assert causes(every(pages(ada))) == [str(number) for number in range(60)]


def test_nothing_to_append_reads_nothing(tenant: Tenant, service: Service) -> None:
    dynamodb = create_client("dynamodb")
    with recorded(dynamodb) as calls:
        logs = EventLogStore(Table(dynamodb, service.engine.log), service.clock, 0)
        assert logs.append(tenant.id, AGENT, []) == []
    assert calls == []


def test_a_late_event_is_logged_once(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore
) -> None:
    old = [event(tenant, f"old {number}", at=1_000 + number) for number in range(3)]
    new = [event(tenant, f"new {number}", at=5_000 + number) for number in range(20)]
    late = event(tenant, "late", at=1_001)
    logs.append(tenant.id, AGENT, old)
    for each in new:
        logs.append(tenant.id, AGENT, [each])
    assert logs.append(tenant.id, AGENT, [*old, late]) == [late]
    assert logs.append(tenant.id, AGENT, new[-1:]) == []
    assert logs.append(tenant.id, AGENT, [late, *old, *new]) == []
    told = [each.data["cause"] for each in (*old, *new, late)]
    assert causes(every(pages(ada, limit=7))) == told


def test_other_writes_are_carried_out_with_the_last_event_or_not_at_all(
    ada: httpx.Client, tenant: Tenant, service: Service, logs: EventLogStore
) -> None:
    client = FaultyClient(create_client("dynamodb"))
    ending = EventLogStore(Table(client, service.engine.log), service.clock, 365)
    memory = Table(client, service.engine.memory)
    client.interrupt(
        "transact_write_items",
        lambda _: True,
        lambda: logs.append(tenant.id, AGENT, [event(tenant, "other")]),
    )
    key = item_types.ANNOUNCEMENT.build_key(tenant.id, task="task", event="event")
    announced = put(key, {"of": "task"}, "attribute_not_exists(pk)")
    large = event(tenant, "large", text="x" * 100_000)
    told = [event(tenant, "first"), large]
    assert ending.append(tenant.id, AGENT, told, (memory, [announced])) == told
    assert causes(every(pages(ada))) == ["other", "first", "large"]
    assert memory.get(key) is not None
    late = event(tenant, "late")
    with pytest.raises(ConditionFailed):
        ending.append(tenant.id, AGENT, [late], (memory, [announced]))
    ending.append(tenant.id, AGENT, told, (memory, [delete(key)]))
    assert causes(every(pages(ada))) == ["other", "first", "large"]
    assert memory.get(key) is None


def test_a_position_amid_what_was_appended_together(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore
) -> None:
    for start in ("a", "b", "c"):
        logs.append(tenant.id, AGENT, events(tenant, 5, start))
    told = [f"{start}{number}" for start in "abc" for number in range(5)]
    for limit in range(1, 8):
        read = list(pages(ada, limit=limit))
        assert causes(every(read)) == told
        assert {len(page) for page in read[:-1]} == {limit}


def test_a_type_is_picked_and_the_position_moves_on(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore
) -> None:
    kinds: list[LogEventType] = ["memory.created", "memory.updated", "memory.created"]
    for number, kind in enumerate(kinds):
        logs.append(tenant.id, AGENT, [event(tenant, str(number), kind=kind)])
    assert causes(every(pages(ada, type="memory.updated"))) == ["1"]
    assert causes(every(pages(ada, type="memory.created", limit=1))) == ["0", "2"]
    none = ok(ada.get(PATH, params={"type": "memory.evicted"}))
    assert none == {"events": [], "next": ok(ada.get(PATH))["next"]}


def test_a_snapshot_of_any_size_comes_back_and_cuts_the_page(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore
) -> None:
    large = [event(tenant, str(n), snapshot=secrets.token_hex(1_000_000)) for n in range(4)]
    assert logs.append(tenant.id, AGENT, large) == large
    read = list(pages(ada))
    assert [len(page) for page in read] == [2, 2]
    assert [each["data"] for each in every(read)] == [each.data for each in large]


def backwards(reader: httpx.Client, path: str = PATH, **query: Any) -> list[dict[str, Any]]:
    """Return the events of a log, newest first, from all its pages."""
    found: list[dict[str, Any]] = []
    while True:
        page = ok(reader.get(path, params={"order": "desc", **query}))
        found += page["events"]
        if "next" not in page:
            return found
        query["after"] = page["next"]


def test_a_log_is_read_newest_first(ada: httpx.Client, tenant: Tenant, logs: EventLogStore) -> None:
    assert ok(ada.get(PATH, params={"order": "desc"})) == {"events": []}
    for start in "abc":
        logs.append(tenant.id, AGENT, events(tenant, 5, start))
    told = [f"{start}{number}" for start in "abc" for number in range(5)]
    for limit in (1, 4, 5, 100):
        assert causes(backwards(ada, limit=limit)) == told[::-1]
    page = ok(ada.get(PATH, params={"order": "desc", "limit": 2}))
    logs.append(tenant.id, AGENT, events(tenant, 5, "d"))
    assert causes(backwards(ada, after=page["next"])) == told[-3::-1]


def test_a_period_has_what_happened_in_it_however_late_it_was_logged(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore
) -> None:
    moments = [1, 2, 3, 9, 4, 4, 20, 21, 30, 7, 31, 40, 41, 42, 25, 50]
    for number, moment in enumerate(moments):
        logs.append(tenant.id, AGENT, [event(tenant, str(number), at=moment * 1_000)])
    for since, until in [(0, 59), (4, 9), (7, 7), (22, 29), (42, 59), (51, 59), (0, 0)]:
        told = [str(n) for n, moment in enumerate(moments) if since <= moment <= until]
        period = {f"{n}": f"1970-01-01T00:00:{s:02}Z" for n, s in (("from", since), ("to", until))}
        assert causes(ok(ada.get(PATH, params=period))["events"]) == told, period
        assert causes(backwards(ada, limit=2, **period)) == told[::-1], period


def test_a_period_is_found_without_reading_the_log(tenant: Tenant, service: Service) -> None:
    dynamodb = create_client("dynamodb")
    table = Table(dynamodb, service.engine.log)
    logs = EventLogStore(table, service.clock, 0)
    for number in range(64):
        large = event(tenant, str(number), at=number, text=secrets.token_hex(1_500))
        logs.append(tenant.id, AGENT, [large])
    reader = EventLogReader(table, service.clock)
    for newest_first in (False, True):
        with recorded(dynamodb) as calls:
            query = LogQuery(2, since=20, until=21, newest_first=newest_first)
            found, _ = reader.read(tenant.id, AGENT, query)
        assert [each.timestamp for each in found] == [20, 21][:: -1 if newest_first else 1]
        assert sum(call.read for call in calls) <= 30


def test_an_event_is_known_to_be_missing_however_old_it_is(
    tenant: Tenant, service: Service, logs: EventLogStore
) -> None:
    table = Table(create_client("dynamodb"), service.engine.log)
    reader = EventLogReader(table, service.clock)
    told = [event(tenant, str(number), at=10 * number) for number in range(110)]
    late, absent = event(tenant, "late", at=15), event(tenant, "absent", at=15)
    wanted = {each.id: each.timestamp for each in (told[0], told[3], told[109], late, absent)}
    assert reader.select_missing(tenant.id, AGENT, wanted) == wanted
    for each in (*told[:5], late, *told[5:]):
        logs.append(tenant.id, AGENT, [each])
    assert reader.select_missing(tenant.id, AGENT, wanted) == {absent.id: 15}
    assert reader.select_missing(tenant.id, AGENT, {}) == {}


def test_one_call_examines_so_many_events_and_says_where_to_go_on(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore
) -> None:
    logs.append(tenant.id, AGENT, [event(tenant, "first", kind="memory.evicted")])
    logs.append(tenant.id, AGENT, events(tenant, 2_100))
    logs.append(tenant.id, AGENT, [event(tenant, "last", kind="memory.evicted")])
    first = ok(ada.get(PATH, params={"type": "memory.evicted"}))
    assert causes(first["events"]) == ["first"]
    rest = ok(ada.get(PATH, params={"type": "memory.evicted", "after": first["next"]}))
    assert causes(rest["events"]) == ["last"]
    assert causes(backwards(ada, type="memory.evicted")) == ["last", "first"]


def test_an_entrys_events_and_what_somebody_did_are_selected(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore
) -> None:
    snapshot = [{"entry_id": "mem_1", "value": {}}, {"entry_id": "mem_2", "value": {}}]
    told = [
        event(tenant, "made", entry_id="mem_1"),
        event(tenant, "other", entry_id="mem_3"),
        event(tenant, "changed", entry_id="mem_1")._replace(actor=Actor("boss", "coordinator")),
        event(tenant, "archived", kind="memory.archived", snapshot=snapshot),
        event(
            tenant,
            "large",
            kind="memory.archived",
            snapshot=[*snapshot, {"entry_id": "x" * 10_000}],
        ),
    ]
    logs.append(tenant.id, AGENT, told)
    of_one = every(pages(ada, entry_id="mem_1"))
    assert causes(of_one) == ["made", "changed", "archived", "large"]
    assert causes(backwards(ada, entry_id="mem_2")) == ["large", "archived"]
    assert causes(every(pages(ada, entry_id="mem_1", actor="boss"))) == ["changed"]
    assert backwards(ada, actor="nobody") == []


@pytest.mark.usefixtures("parallel")
def test_many_append_at_once_and_a_reader_misses_nothing(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore
) -> None:
    def append(writer: int) -> None:
        own = events(tenant, 12, f"{writer}-")
        for start in range(0, 12, 3):
            logs.append(tenant.id, AGENT, own[start : start + 3])
            logs.append(tenant.id, AGENT, own[max(0, start - 3) : start + 3])

    with ThreadPoolExecutor(6) as threads:
        writing = [threads.submit(append, writer) for writer in range(6)]
        seen: list[str] = []
        after = "0"
        while not all(each.done() for each in writing):
            page = ok(ada.get(PATH, params={"after": after, "limit": 7}))
            seen += causes(page["events"])
            after = page["next"]
        for each in writing:
            each.result()
    seen += causes(every(pages(ada, after=after)))
    assert causes(every(pages(ada))) == seen
    for writer in range(6):
        own = [each for each in seen if each.startswith(f"{writer}-")]
        assert own == [f"{writer}-{number}" for number in range(12)]


class PassingTable(Table):
    """Passes by an item that is written while a query reads what is behind it."""

    passed = 0

    def query(self, partition: str, first: str, last: Any = None, *rest: Any, **how: Any) -> Any:
        """Query as the table does, but for that item."""
        for item in super().query(partition, first, last, *rest, **how):
            if first == last or not item["sk"].endswith(str(self.passed)):
                yield item


def test_a_reader_stops_before_an_item_that_is_being_written(
    tenant: Tenant, service: Service, logs: EventLogStore
) -> None:
    for number in range(3):
        logs.append(tenant.id, AGENT, [event(tenant, str(number))])
    table = PassingTable(create_client("dynamodb"), service.engine.log)
    table.passed = service.clock() + 1  # the number of the second item
    seen, position = EventLogReader(table, service.clock).read(tenant.id, AGENT, LogQuery(10))
    assert [each.data["cause"] for each in seen] == ["0"]
    whole = Table(create_client("dynamodb"), service.engine.log)
    rest, _ = EventLogReader(whole, service.clock).read(tenant.id, AGENT, LogQuery(10, position))
    assert [each.data["cause"] for each in rest] == ["1", "2"]


def test_who_reads_a_namespaces_log(ada: httpx.Client, tenant: Tenant) -> None:
    path = f"{NAMESPACES}/billing/events"
    assert ok(ada.get(path)) == {"events": [], "next": "0"}
    allow(tenant.admin, "billing", "none", bob="read")
    refused(ada.get(path), 403, "ACCESS_DENIED")
    ok(tenant.agent("bob").get(path))
    ok(tenant.admin.get(path))


def test_another_tenants_log_is_another(
    ada: httpx.Client, tenant: Tenant, service: Service, logs: EventLogStore
) -> None:
    logs.append(tenant.id, AGENT, events(tenant, 3))
    other = service.tenant()
    assert len(logs.append(other.id, AGENT, events(other, 1))) == 1
    assert len(ok(other.agent("ada").get(PATH))["events"]) == 1
    assert len(ok(ada.get(PATH))["events"]) == 3
    create(tenant.admin, working("t", scope={"task_id": "t", "intent_id": "i"}))
    refused(other.admin.get("/api/v1/intents/i/events"), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"after": "x"}, "after"),
        ({"after": "9" * 18}, "after"),
        ({"type": "memory.read"}, "type"),
        ({"offset": "1"}, "offset"),
        ({"order": "newest"}, "order"),
        ({"from": "yesterday"}, "from"),
        ({"from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "to"),
    ],
)
def test_wrong_parameters_are_named(ada: httpx.Client, query: dict[str, str], field: str) -> None:
    invalid(ada.get(PATH, params=query), field)


def test_a_position_beyond_the_end_gives_nothing(ada: httpx.Client) -> None:
    far = "9" * 17
    assert ok(ada.get(PATH, params={"after": far})) == {"events": [], "next": far}


def test_events_are_kept_as_long_as_the_deployment_says(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore, clock: MovableClock
) -> None:
    logs.append(tenant.id, AGENT, events(tenant, 3, "old "))
    clock.advance(seconds=364 * _DAY)
    logs.append(tenant.id, AGENT, events(tenant, 2, "new "))
    clock.advance(seconds=_DAY - 1)
    assert len(every(pages(ada))) == 5
    clock.advance(seconds=2)
    assert causes(every(pages(ada))) == ["new 0", "new 1"]


def test_a_reader_goes_on_where_items_were_removed(
    ada: httpx.Client, tenant: Tenant, logs: EventLogStore, service: Service, clock: MovableClock
) -> None:
    for number in range(4):
        logs.append(tenant.id, AGENT, [event(tenant, str(number))])
    end = ok(ada.get(PATH, params={"limit": 1}))["next"]
    items = [each for each in service.stored() if "ids" in each]
    sorts = sorted(each["sk"]["S"] for each in items)
    remove_items(service, sorts[0], sorts[2])
    assert causes(every(pages(ada, after=end))) == ["1", "3"]
    assert causes(every(pages(ada))) == ["1", "3"]
    clock.advance(seconds=400 * _DAY)
    remove_items(service, *sorts)
    logs.append(tenant.id, AGENT, events(tenant, 1, "anew "))
    assert causes(every(pages(ada, after=end))) == ["anew 0"]
    assert causes(every(pages(ada))) == ["anew 0"]


def remove_items(service: Service, *sorts: str) -> None:
    for item in service.stored():
        if item["sk"]["S"] in sorts:
            key = {name: item[name] for name in ("pk", "sk")}
            service.engine.client.delete_item(TableName=service.engine.log, Key=key)
