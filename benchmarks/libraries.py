"""Other memories on DynamoDB as libraries, and this service's function called as one.

Run as `python -m benchmarks.libraries NAME ENTRIES SECONDS`, by the Python that has the library:
it measures on the DynamoDB of the environment and prints JSON. LangGraph's stores have no versions
and no tags: a patch there is a blind put, a tag a field of the value, a query a filter on fields.
"""

import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from time import perf_counter
from typing import Any, Protocol

from benchmarks.capacity import recorded
from benchmarks.load import percentile

CLIENTS = (1, 8)
MATCHES, COMMON = 10, 10  # entries with both tags; every so many has one of them
_SPACE = ("tenant", "invoice_processing")
_SETUP_THREADS = 4


class Library(Protocol):
    """What is measured; `client` makes its DynamoDB calls. Numbers name entries."""

    client: Any

    def create(self, number: int) -> object: ...

    def get(self, number: int) -> object: ...

    def patch(self, number: int) -> object: ...

    def two_tags(self) -> int:
        """How many of the matching entries a query by two tags brings."""


def value(number: int) -> dict[str, Any]:
    """A checkpoint, of 560 bytes as JSON."""
    notes = " ".join(f"invoice {number * 31 + line:08d} was matched;" for line in range(14))
    return {"completed": number, "total": 47, "last_id": f"inv_{number:06d}", "notes": notes[:500]}


def tags(number: int) -> list[str]:
    """The tags of an entry: the first few have both, every tenth has one of them."""
    return [*(["urgent"] if number < MATCHES else []), *(["billing"] if _common(number) else [])]


def _common(number: int) -> bool:
    return number < MATCHES or number % COMMON == 0


class _LangGraph:
    """A LangGraph store, of whichever package."""

    def __init__(self, store: Any, client: Any, entries: int) -> None:
        self._store, self.client, self._entries = store, client, entries

    def create(self, number: int) -> object:
        document = value(number) | dict.fromkeys(tags(number), True)
        return self._store.put(_SPACE, f"step-{number}", document)

    def get(self, number: int) -> object:
        return self._store.get(_SPACE, f"step-{number}")

    def patch(self, number: int) -> object:
        return self.create(number)

    def two_tags(self) -> int:
        """The limit is of what is read, so that all has to be asked for."""
        asked = {"urgent": True, "billing": True}
        found = self._store.search(_SPACE, filter=asked, limit=self._entries)
        return sum(all(item.value.get(tag) for tag in asked) for item in found)


def _aws(entries: int) -> Library:
    from langgraph_checkpoint_aws import (  # noqa: PLC0415 - where it is installed
        DynamoDBStore,
    )

    store = DynamoDBStore(table_name="peer")
    store.setup()
    return _LangGraph(store, store.client, entries)


def _community(entries: int) -> Library:
    from langgraph_store_dynamodb import DynamoDBStore  # noqa: PLC0415 - where it is installed

    store = DynamoDBStore("peer")
    return _LangGraph(store, store.table.meta.client, entries)


def _ours(entries: int) -> Library:
    from benchmarks.own_library import OwnLibrary  # noqa: PLC0415 - needs what others don't have

    return OwnLibrary(entries)


_MAKERS: dict[str, Callable[[int], Library]] = {
    "ours": _ours,
    "langgraph-checkpoint-aws": _aws,
    "langgraph-store-dynamodb": _community,
}


def _measured(library: Library, entries: int, seconds: float) -> list[dict[str, object]]:
    with ThreadPoolExecutor(_SETUP_THREADS) as threads:
        list(threads.map(library.create, range(entries)))
    new, turns = count(entries), count()
    operations: dict[str, Callable[[], object]] = {
        "two tags": library.two_tags,  # before there are more entries
        "get": lambda: library.get(next(turns) % entries),
        "patch": lambda: library.patch(next(turns) % entries),
        "create": lambda: library.create(next(new)),
    }
    return [
        {"case": name} | costs | _timed(operation, clients, seconds)
        for name, operation in operations.items()
        for costs in [_costs(library, operation)]
        for clients in CLIENTS
    ]


def _costs(library: Library, operation: Callable[[], object]) -> dict[str, object]:
    with recorded(library.client) as calls:
        answer = operation()
    return {
        "calls": len(calls),
        "write": sum(call.write + call.index_write for call in calls),
        "read": sum(call.read + call.index_read for call in calls),
        "found": answer if isinstance(answer, int) else None,
    }


def _timed(operation: Callable[[], object], clients: int, seconds: float) -> dict[str, object]:
    """Closed loops in threads of this process, as a Lambda function or a worker would call."""
    began = perf_counter()
    with ThreadPoolExecutor(clients) as threads:
        loops = [threads.submit(_loop, operation, began + seconds) for _ in range(clients)]
        latencies = [latency for loop in loops for latency in loop.result()]
    return {
        "clients": clients,
        "rate": len(latencies) / (perf_counter() - began),
        "p50_ms": percentile(latencies, 50) * 1000,
        "p99_ms": percentile(latencies, 99) * 1000,
    }


def _loop(operation: Callable[[], object], deadline: float) -> list[float]:
    latencies = []
    while (began := perf_counter()) < deadline:
        operation()
        latencies.append(perf_counter() - began)
    return latencies or [perf_counter() - began]


def main(arguments: Sequence[str]) -> None:
    """Measure the library named, with so many entries, for so many seconds a case."""
    name, entries, seconds = arguments
    library = _MAKERS[name](int(entries))
    json.dump(_measured(library, int(entries), float(seconds)), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
