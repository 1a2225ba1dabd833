"""The scheduled function as tests run it, and what they look at in the tables."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from functions.container import Container
from functions.platform.items import Item, decode_item
from functions.platform.settings import ScheduleSettings
from functions.schedule.handler import build_handler
from tests.contract.faults import Killed, When, faulty
from tests.contract.service import Service
from tests.contract.transport import LambdaContext

_BATCH = 25  # items that DynamoDB takes in a batch


class ShortTime:
    """A Lambda context whose time is over after a number of looks at it."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda would stop the invocation."""
        self.looks -= 1
        return 30_000 if self.looks >= 0 else 0


MEGABYTE = 1024 * 1024


def sweeper(service: Service, threads: int = 1, **settings: Any) -> Callable[..., dict[str, Any]]:
    """A new instance of the scheduled function, on the service's tables and clock."""
    chosen = ScheduleSettings(
        memory_table=service.engine.memory,
        log_table=service.engine.log,
        archive_folder=str(service.archive),
        encryption_key_file=str(service.key_file),
        sweep_threads=threads,
        **settings,
    )
    handler = build_handler(Container(chosen, service.clock))
    return lambda context=None, event=None: handler(event or {}, context or LambdaContext())


def sweep(service: Service, **settings: Any) -> dict[str, Any]:
    return sweeper(service, **settings)()


def items(service: Service, prefix: str) -> list[Item]:
    """The stored items whose sort key begins so."""
    found = map(decode_item, service.stored())
    return [item for item in found if item["sk"].startswith(prefix)]


def stored_keys(service: Service) -> list[str]:
    return sorted(item["key"] for item in items(service, "e#"))


def count_tombstones(service: Service) -> dict[str, int]:
    """Count the tombstones of each reason."""
    return dict(Counter(item["reason"] for item in items(service, "z#")))


def counters_equal_items(service: Service) -> bool:
    """Return whether all counters of agents and tasks equal the sums of the stored entries."""
    entries = items(service, "e#")
    agents = [item for item in items(service, "a") if item["sk"] == "a"]
    tasks = [item for item in items(service, "t") if item["sk"] == "t"]
    return all(_agent_fits(agent, entries) for agent in agents) and all(
        _task_fits(task, entries) for task in tasks
    )


def _agent_fits(agent: Item, entries: list[Item]) -> bool:
    own = [each for each in entries if each["pk"] == agent["pk"]]
    episodic = [each for each in own if each["memory_type"] == "episodic"]
    working = [each for each in own if each["memory_type"] == "working"]
    loose = [each for each in working if "task_id" not in each or each.get("is_in_own_task")]
    capacity = agent.get("episodic_capacity", 1000)
    counted = (
        capacity - agent.get("episodic_room", capacity),
        agent.get("episodic_bytes", 0),
        agent.get("episodic_pinned_count", 0),
        100 - agent.get("working_room", 100),
        MEGABYTE - agent.get("working_room_bytes", MEGABYTE),
    )
    pinned = sum(each.get("pinned", False) for each in episodic)
    return counted == (len(episodic), _bytes(episodic), pinned, len(loose), _bytes(loose))


def _task_fits(task: Item, entries: list[Item]) -> bool:
    tenant = task["pk"].partition("#")[0]
    own = [each for each in entries if each["pk"].startswith(f"{tenant}#")]
    working = [
        e for e in own if e["memory_type"] == "working" and e.get("task_id") == task["task_id"]
    ]
    held = sum(value for name, value in task.items() if name.startswith("n_"))
    held_bytes = sum(value for name, value in task.items() if name.startswith("bytes_"))
    counted = (
        task["max_entries"] - task["free_entries"],
        1024 * task["max_total_size_kb"] - task["free_bytes"],
        held,
        held_bytes,
    )
    return counted == (len(working), _bytes(working), len(working), _bytes(working))


def _bytes(entries: list[Item]) -> int:
    return sum(each["value_bytes"] for each in entries)


def restore(service: Service, snapshot: list[dict[str, Any]]) -> None:
    """Makes the memory table hold exactly these items again."""
    client, table = service.engine.client, service.engine.memory
    wanted = {_key_of(item): item for item in snapshot}
    present = {_key_of(item): item for item in service.stored()}
    requests: list[dict[str, Any]] = [
        {"DeleteRequest": {"Key": {name: present[key][name] for name in ("pk", "sk")}}}
        for key in present.keys() - wanted.keys()
    ]
    requests += [
        {"PutRequest": {"Item": item}} for key, item in wanted.items() if present.get(key) != item
    ]
    for start in range(0, len(requests), _BATCH):
        client.batch_write_item(RequestItems={table: requests[start : start + _BATCH]})


def _key_of(item: dict[str, Any]) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


def after_each_kill(
    service: Service,
    snapshot: list[dict[str, Any]],
    when: When,
    look: Callable[[], Any],
    **settings: Any,
) -> list[Any]:
    """Kill a sweep of these items at a write, sweep again, and return what a look finds.

    The result has a look for each write of a sweep; the last sweep is not killed.
    """
    seen: list[Any] = []
    while True:
        restore(service, snapshot)
        with faulty(len(seen) + 1, when) as failing, suppress(Killed):
            sweep(service, **settings)
        if failing.writes <= len(seen):
            return seen
        sweep(service, **settings)
        seen.append(look())
