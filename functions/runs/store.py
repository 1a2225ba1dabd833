"""The runs room's reads of the table."""

from collections.abc import Iterator
from itertools import takewhile

from functions.platform.item_types import EPISODE, RUN
from functions.platform.items import Item
from functions.platform.keys import Key, decode_timestamp
from functions.platform.run_keys import (
    LAST_SORT_TOKEN,
    RunAddress,
    parse_run_id,
)
from functions.platform.schema import BY_TYPE, TYPE_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE
from functions.platform.table import Table
from functions.runs.ids import RunIds
from functions.runs.items import RunItems
from functions.runs.model import Run
from functions.runs.rules import expires, no_such_run

_AT_ONCE = 1000


class RunStore:
    """Finds runs, and what stands under an agent type."""

    def __init__(self, table: Table, items: RunItems, ids: RunIds) -> None:
        self._table = table
        self._items = items
        self._ids = ids

    def address(self, tenant: str, run_id: str, now: int) -> RunAddress:
        """Where a run stands: without any read, unless the root key was exchanged since.

        Raises:
            NotFound: there is no such run, or its 90 days are over.
        """
        address = self._possible(tenant, run_id, now)
        if not self._ids.issued(address, run_id):
            self._assert_there(address, run_id)
        return address

    def _possible(self, tenant: str, run_id: str, now: int) -> RunAddress:
        address = parse_run_id(tenant, run_id)
        if address is None or expires(address.started) <= now:
            raise no_such_run()
        return address

    def _assert_there(self, address: RunAddress, run_id: str) -> None:
        item = self._table.get(address.item_key)
        if item is None or item["run"] != run_id:
            raise no_such_run()

    def run(self, tenant: str, run_id: str, now: int) -> tuple[RunAddress, Run]:
        """A run: one read.

        Raises:
            NotFound: as above.
        """
        address = self._possible(tenant, run_id, now)
        item = self._table.get(address.item_key)
        if item is None or item["run"] != run_id:
            raise no_such_run()
        return address, self._items.run_of(tenant, item)

    def runs(self, tenant: str, places: list[Key]) -> list[Run]:
        """Those of the runs that are there, in the given order: a call per hundred."""
        found = self._table.get_many(places)
        return [self._items.run_of(tenant, found[place]) for place in places if place in found]

    def with_episodes(self, tenant: str, run_id: str, now: int) -> tuple[Run, Iterator[Item]]:
        """A run and the items of its episodes, in no order: a call per megabyte.

        Raises:
            NotFound: as above.
        """
        address = self._possible(tenant, run_id, now)
        found = self._table.query_from(
            address.partition, EPISODE.sort_prefix, RUN.sort, _AT_ONCE, newest_first=True
        )
        item = next(found, None)
        if item is None or item["sk"] != RUN.sort or item["run"] != run_id:
            raise no_such_run()
        return self._items.run_of(tenant, item), found

    def of_type(
        self, partition: str, now: int, before: str | None = None, at_once: int | None = None
    ) -> Iterator[Item]:
        """What an agent type has in the index, newest first; it may lag behind the table.

        Args:
            partition: the type's episodes or its runs.
            now: what has expired by then is left out.
            before: only what comes after this in that order.
            at_once: how many a call reads at most; else a megabyte.
        """
        found = self._table.query_newest(
            BY_TYPE,
            (TYPE_ATTRIBUTE, partition),
            (TYPE_ORDER_ATTRIBUTE, before or LAST_SORT_TOKEN),
            at_once,
        )
        return takewhile(
            lambda item: expires(decode_timestamp(item[TYPE_ORDER_ATTRIBUTE])) > now, found
        )
