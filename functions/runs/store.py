"""Reads and writes of runs, episodes, and agent types.

Large values of a run are stored in parts, beside its item.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import TypeGuard

from functions.identity.model import Principal
from functions.platform import run_keys, schema, staging
from functions.platform.bounded_pages import WHOLE, WantedPage
from functions.platform.clock import to_ttl_seconds
from functions.platform.errors import Throttled
from functions.platform.idempotency import RequestToken
from functions.platform.item_types import DELETED_RUN, EPISODE, RUN
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import Key, decode_timestamp
from functions.platform.limits import MAX_PAGE_ITEMS
from functions.platform.newest_first import iterate_rows, list_items
from functions.platform.table import ConditionFailed, Table
from functions.platform.values import ValueCodec, read_text
from functions.platform.writes import Write, put_new, put_version
from functions.runs.model import Episode, Run, RunQuery, RunValue, compute_expiry
from functions.runs.rules import RUN_VALUES, RunIds, parse_address, run_not_found

_VERSION = 1  # no text is ever replaced


@dataclass(eq=False)
class RunStore:
    """Reads and writes the runs of all tenants."""

    _table: Table
    _values: ValueCodec
    _staging: staging.Staging
    _ids: RunIds

    def find_address(
        self, caller: Principal, run_id: str, now: int
    ) -> tuple[run_keys.RunAddress, str]:
        """Find the address and the starter of a run; read the run if the caller isn't it."""
        address = parse_address(caller.tenant, run_id, now)
        if self._ids.is_issued(address, run_id, caller.id):
            return address, caller.id
        return address, self.get_item(caller.tenant, run_id, now)["created_by"]

    def get_item(self, tenant: str, run_id: str, now: int) -> Item:
        """Read the item of a run, without large values: one read."""
        item = self._table.get(parse_address(tenant, run_id, now).item_key)
        if not is_run(item, run_id):
            raise run_not_found()
        return item

    def create(self, address: run_keys.RunAddress, run: Run, now: int) -> None:
        """Write a new run: one write, and two more calls if its input is large."""
        value, shown = self._stage_value(address.tenant, address.item_key[0], run, "input", now)
        names = {"instance": run.instance_id, "agent_type": run.agent_type}
        item = _encode_head(run) | value | RUN.build_index_attributes(address.tenant, **names)
        item[schema.TYPE_ORDER_ATTRIBUTE] = address.sort_token
        self._table.write([put_new(address.item_key, item), *shown])

    def end(
        self, tenant: str, item: Item, run: Run, field: RunValue, now: int, records: list[Write]
    ) -> None:
        """Write the end of a run: one write, and two more calls if its result is large.

        Args:
            field: what the end adds to it.
        """
        key = (item["pk"], item["sk"])
        value, shown = self._stage_value(tenant, key[0], run, field, now)
        write = put_version(key, item | _encode_head(run) | value, item["version"])
        self._table.write([write, *shown, *records])

    def list_rows(
        self, tenant: str, query: RunQuery, now: int, wanted: WantedPage = WHOLE
    ) -> Iterator[Item]:
        """List index rows, newest first, including all rows of the runs that a query selects."""
        names = {"instance": query.instance_id, "agent_type": query.agent_type}
        of = RUN.choose_index(tenant, **names)
        rows = chain.from_iterable(iterate_rows(self._table, *of, wanted, MAX_PAGE_ITEMS))
        return takewhile(lambda row: compute_expiry(_get_created(row)) > now, rows)

    def get_items(self, keys: Sequence[Key]) -> dict[Key, Item]:
        """Read the items of the runs that exist among these: a call per hundred."""
        found = self._table.get_many(keys)
        return {key: item for key, item in found.items() if "status" in item}

    def decode(self, tenant: str, item: Item) -> Run:
        """Decode the run of an item: one call for each large value.

        Raises:
            NotFound: the run was deleted since its item was read.
        """
        values = {name: self._decode_value(tenant, item, name) for name in RUN_VALUES}
        return from_attributes(Run, item, **values)

    def _decode_value(self, tenant: str, item: Item, name: RunValue) -> bytes:
        if item.get(name) is None:
            return b"null"
        try:
            value = self._staging.join(item[name] | {"pk": item["pk"]})
        except staging.PartsMissing as missing:
            raise run_not_found() from missing
        context = f"{item['pk']}#{name}"
        return read_text(item, lambda: self._values.decode(value, tenant, context, _VERSION))

    def _stage_value(
        self, tenant: str, partition: str, run: Run, name: RunValue, now: int
    ) -> tuple[Item, list[Write]]:
        """Encode a value of a run, and store the parts of a large one, which expire with it."""
        text: bytes = getattr(run, name)
        if text == b"null":
            return {}, []
        context = f"{partition}#{name}"
        value = self._values.encode(text, run.sensitivity, tenant, context, _VERSION)
        ttl = {schema.TTL_ATTRIBUTE: to_ttl_seconds(run.expires_at)}
        value, shown = self._staging.stage_value(partition, name, value, now, **ttl)
        return {name: value}, shown


def is_run(item: Item | None, run_id: str) -> TypeGuard[Item]:
    """Tell whether an item is this run's, and the run wasn't deleted."""
    return item is not None and item["id"] == run_id and "status" in item


def list_values(item: Item) -> list[Item]:
    """List a run's values, each as an item of the run's partition."""
    return [item[name] | {"pk": item["pk"]} for name in RUN_VALUES if name in item]


def decode_head(item: Item) -> Run:
    """Decode the run of an item without its values."""
    return from_attributes(Run, item, **dict.fromkeys(RUN_VALUES, b"null"))


def _encode_head(run: Run) -> Item:
    return to_attributes(run, *RUN_VALUES) | {schema.TTL_ATTRIBUTE: to_ttl_seconds(run.expires_at)}


_LOST = b'{"content":null,"unreadable":true}'  # in place of a damaged or moved text


class EpisodeStore:
    """Reads and writes the episodes of all tenants."""

    def __init__(self, table: Table, values: ValueCodec) -> None:
        self._table = table
        self._values = values

    def append(
        self,
        address: run_keys.RunAddress,
        episode: Episode,
        sort_token: str,
        token: RequestToken | None,
        records: Iterable[Write],
    ) -> Episode | None:
        """Write an episode at the key of its sort token, and audit records: one write.

        Returns None, or the episode that an earlier try of the request wrote.
        """
        key = run_keys.build_episode_key(address.partition, sort_token)
        text = self._values.encode(
            episode.text, episode.sensitivity, address.tenant, "#".join(key), _VERSION
        )
        item = text | {
            "run_end": run_keys.get_run_id_end(episode.run_id),
            "created_by": episode.created_by,
            "sensitivity": episode.sensitivity,
            "request": None if token is None else token.stored,
            **EPISODE.build_index_attributes(
                address.tenant, agent_type=address.type, seed=address.seed
            ),
            schema.TYPE_ORDER_ATTRIBUTE: sort_token,
            schema.TTL_ATTRIBUTE: to_ttl_seconds(episode.expires_at),
        }
        try:
            self._table.write([put_new(key, item), *records])
        except ConditionFailed as failed:
            earlier = failed.failed.get(key)
            if earlier is None or token is None or not token.matches(earlier.get("request")):
                message = "another episode was appended at the same moment; send the request again"
                raise Throttled(message) from failed
            return self._decode(address.tenant, earlier)
        return None

    def is_run_deleted(self, address: run_keys.RunAddress) -> bool:
        """Tell whether the run was deleted: one read of a small item, which rarely exists."""
        return self._table.get(DELETED_RUN.build_key_in(address.partition)) is not None

    def list_by_type(
        self, tenant: str, agent_type: str, wanted: WantedPage, now: int
    ) -> Iterator[Episode]:
        """List an agent type's episodes, newest first: a call per page or megabyte."""
        items = self._table.query_index(
            schema.BY_TYPE,
            f"{schema.TYPE_ATTRIBUTE} = :type AND {schema.TYPE_ORDER_ATTRIBUTE} < :below",
            newest_first=True,
            page_size=wanted.read_size,
            type=EPISODE.build_index_partition(schema.BY_TYPE, tenant, agent_type=agent_type),
            below=_parse_begin(wanted) or run_keys.LAST_SORT_TOKEN,
        )
        young = takewhile(lambda item: compute_expiry(_get_created(item)) > now, items)
        return (self._decode(tenant, item) for item in young if _get_expiry(item) > now)

    def get(self, tenant: str, run_id: str, id: str, now: int) -> Episode | None:
        """Read one episode: one call."""
        token = run_keys.parse_episode_id(id)
        if token is None:
            return None
        address = parse_address(tenant, run_id, now)
        item = self._table.get(run_keys.build_episode_key(address.partition, token))
        return None if item is None or _get_expiry(item) <= now else self._decode(tenant, item)

    def find(self, tenant: str, seed: str, start: str, now: int) -> Episode | None:
        """Find the episode of a short reference: one call."""
        key = run_keys.parse_short_episode(tenant, seed, start)
        items = () if key is None else self._table.query(*key)
        found = (self._decode(tenant, item) for item in items if _get_expiry(item) > now)
        return next(found, None)

    def select_present(self, tenant: str, episodes: Iterable[Episode], now: int) -> set[str]:
        """Return the ids of the episodes that still exist among these: a call per 100."""
        keys = {
            run_keys.build_episode_key(
                parse_address(tenant, each.run_id, now).partition,
                run_keys.parse_episode_id(each.id) or "",
            ): each.id
            for each in episodes
        }
        return {keys[key] for key in self._table.get_many(keys)}

    def list_by_run(
        self, tenant: str, run_id: str, wanted: WantedPage, now: int
    ) -> tuple[Run, Iterator[Episode]]:
        """Read the head of a run, and list its episodes, newest first.

        The index that lists them may lag behind an append.
        """
        address = parse_address(tenant, run_id, now)
        head = self._table.get(address.item_key)
        if not is_run(head, run_id):
            raise run_not_found()
        wanted = wanted._replace(after=_parse_begin(wanted))
        items = list_items(self._table, EPISODE, wanted, tenant, seed=address.seed)
        return decode_head(head), (self._decode(tenant, item) for item in items)

    def _decode(self, tenant: str, item: Item) -> Episode:
        context = f"{item['pk']}#{item['sk']}"
        return Episode(
            id=run_keys.build_episode_id(item[schema.TYPE_ORDER_ATTRIBUTE]),
            run_id=run_keys.build_run_id(item["pk"], item[schema.TYPE_ATTRIBUTE], item["run_end"]),
            text=read_text(
                item, lambda: self._values.decode(item, tenant, context, _VERSION), _LOST
            ),
            created_at=_get_created(item),
            created_by=item["created_by"],
            expires_at=_get_expiry(item),
            sensitivity=item.get("sensitivity"),
        )


def _parse_begin(wanted: WantedPage) -> str | None:
    return None if wanted.begin is None else run_keys.parse_episode_id(wanted.begin)


def _get_created(item: Item) -> int:
    return decode_timestamp(item[schema.TYPE_ORDER_ATTRIBUTE])


def _get_expiry(item: Item) -> int:
    return compute_expiry(decode_timestamp(item["run_end"]))
