"""Reads and writes of runs."""

from collections.abc import Iterator
from itertools import takewhile

from functions.platform.errors import NotFound
from functions.platform.items import Item
from functions.platform.keys import Key, decode_timestamp
from functions.platform.run_keys import LAST_SORT_TOKEN, RunAddress, build_runs_partition
from functions.platform.schema import (
    BY_TYPE,
    TTL_ATTRIBUTE,
    TYPE_ATTRIBUTE,
    TYPE_ORDER_ATTRIBUTE,
)
from functions.platform.table import ConditionFailed, Table
from functions.platform.ttl import to_ttl_seconds
from functions.platform.values import ValueCodec
from functions.platform.writes import put
from functions.runs.model import Run, RunStatus, compute_expiry
from functions.runs.rules import RunIds, parse_address, run_not_found

_VERSION = 1  # no text is ever replaced
_VALUES = ("input", "output", "error")


class RunChanged(Exception):
    """A run is not as the write expects; `run` is the stored one."""

    def __init__(self, run: Run) -> None:
        super().__init__("the run is not as expected")
        self.run = run


class RunStore:
    """Reads and writes the runs of all tenants."""

    def __init__(self, table: Table, values: ValueCodec, ids: RunIds) -> None:
        self._table = table
        self._values = values
        self._ids = ids

    def find_address(self, tenant: str, run_id: str, now: int) -> RunAddress:
        """Find the address of an existing run: no read, unless the root key has changed since.

        Raises:
            NotFound: there is no such run, or its 90 days are over.
        """
        address = parse_address(tenant, run_id, now)
        if not self._ids.is_issued(address, run_id):
            self.get(tenant, run_id, now)
        return address

    def get(self, tenant: str, run_id: str, now: int) -> Run:
        """Read a run: one read.

        Raises:
            NotFound: there is no such run, or its 90 days are over.
        """
        item = self._table.get(parse_address(tenant, run_id, now).item_key)
        if item is None or item["run"] != run_id:
            raise run_not_found()
        return self.decode(tenant, item)

    def create(self, address: RunAddress, run: Run) -> None:
        """Write a new run: one write.

        Raises:
            RunChanged: an earlier try of the same request created it.
        """
        item = self._encode(address, run)
        try:
            self._table.put(put(address.item_key, item, "attribute_not_exists(pk)"))
        except ConditionFailed as failed:
            raise self._conflict(address.tenant, failed) from failed

    def replace(self, address: RunAddress, seen: Run, run: Run) -> None:
        """Write a run in place of the one that was `seen`: one write.

        Raises:
            RunChanged: the stored run has another version.
        """
        item = self._encode(address, run)
        try:
            self._table.put(put(address.item_key, item, "version = :seen", seen=seen.version))
        except ConditionFailed as failed:
            raise self._conflict(address.tenant, failed) from failed

    def _conflict(self, tenant: str, failed: ConditionFailed) -> RunChanged | NotFound:
        if failed.item is None:
            return run_not_found()
        return RunChanged(self.decode(tenant, failed.item))

    def list_keys(
        self, tenant: str, agent_type: str, status: RunStatus | None, now: int
    ) -> list[Key]:
        """List the keys of an agent type's runs, newest first, from an index that may lag."""
        partition = build_runs_partition(tenant, agent_type)
        rows = query_by_type(self._table, partition, now)
        return [(row["pk"], row["sk"]) for row in rows if status in (None, row["status"])]

    def get_many(self, tenant: str, keys: list[Key]) -> list[Run]:
        """Read the runs that exist among these, in the given order: a call per hundred."""
        found = self._table.get_many(keys)
        return [self.decode(tenant, found[key]) for key in keys if key in found]

    def _encode(self, address: RunAddress, run: Run) -> Item:
        """Encode a run; the index by type copies its small attributes."""
        values = {
            name: self._values.encode(
                text, run.sensitivity, address.tenant, f"{address.partition}#{name}", _VERSION
            )
            for name in _VALUES
            if (text := getattr(run, name)) != b"null"
        }
        return values | {
            "run": run.id,
            "agent_type": run.agent_type,
            "instance": run.instance,
            "status": run.status,
            "version": run.version,
            "created": run.created,
            "author": run.author,
            "ended": run.ended,
            "ender": run.ender,
            "sensitivity": run.sensitivity,
            "request": run.request,
            "end_request": run.end_request,
            TYPE_ATTRIBUTE: build_runs_partition(address.tenant, run.agent_type),
            TYPE_ORDER_ATTRIBUTE: address.sort_token,
            TTL_ATTRIBUTE: to_ttl_seconds(run.expires),
        }

    def decode(self, tenant: str, item: Item) -> Run:
        """Decode the run of an item."""

        def decode_value(name: str) -> bytes:
            if item.get(name) is None:
                return b"null"
            return self._values.decode(item[name], tenant, f"{item['pk']}#{name}")

        return Run(
            id=item["run"],
            agent_type=item["agent_type"],
            instance=item.get("instance"),
            status=item["status"],
            version=item["version"],
            created=item["created"],
            author=item["author"],
            input=decode_value("input"),
            output=decode_value("output"),
            error=decode_value("error"),
            ended=item.get("ended"),
            ender=item.get("ender"),
            sensitivity=item.get("sensitivity"),
            request=item.get("request"),
            end_request=item.get("end_request"),
        )


def query_by_type(
    table: Table, partition: str, now: int, before: str | None = None, page_size: int | None = None
) -> Iterator[Item]:
    """Query the index by agent type, newest first; it may lag behind the table.

    Args:
        table: holds runs and episodes.
        partition: the type's episodes or its runs.
        now: what has expired by then is left out.
        before: the sort token below which the query begins.
        page_size: how many items a call reads at most; else a megabyte.
    """
    of, below = (TYPE_ATTRIBUTE, partition), (TYPE_ORDER_ATTRIBUTE, before or LAST_SORT_TOKEN)
    items = table.query_newest(BY_TYPE, of, below, page_size)
    return takewhile(lambda item: get_expiry(item) > now, items)


def get_expiry(item: Item) -> int:
    """Get until when (epoch ms) a run or an episode is kept, from its sort token."""
    return compute_expiry(decode_timestamp(item[TYPE_ORDER_ATTRIBUTE]))
