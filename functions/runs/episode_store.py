"""Reads and writes of episodes."""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import takewhile
from operator import itemgetter

from functions.platform.errors import Throttled
from functions.platform.idempotency import RequestToken
from functions.platform.item_types import EPISODE, RUN
from functions.platform.items import Item
from functions.platform.keys import decode_timestamp
from functions.platform.limits import MAX_PAGE_BYTES
from functions.platform.run_keys import (
    LAST_SORT_TOKEN,
    RunAddress,
    build_deleted_run_key,
    build_episode_id,
    build_episode_key,
    build_episodes_partition,
    build_episodes_partition_of_hash,
    build_run_id,
    get_run_id_end,
    get_run_start,
    parse_episode_id,
)
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
from functions.runs.model import Episode, Run, compute_expiry
from functions.runs.rules import parse_address, run_not_found
from functions.runs.store import decode_head, is_run

_PAGE = 1000
_MAX_SELECTED_BYTES = 2 * MAX_PAGE_BYTES
_VERSION = 1  # no text is ever replaced


class EpisodeStore:
    """Reads and writes the episodes of all tenants."""

    def __init__(self, table: Table, values: ValueCodec) -> None:
        self._table = table
        self._values = values

    def append(
        self, address: RunAddress, episode: Episode, request: bytes, token: RequestToken | None
    ) -> Episode | None:
        """Write an episode at the key of its request: one write.

        Returns None, or what an earlier try of the same request wrote.

        Raises:
            IdempotencyConflict: the token's key came with another body.
            Throttled: another episode has this key.
        """
        key = build_episode_key(address, request)
        text = self._values.encode(
            episode.text, episode.sensitivity, address.tenant, "#".join(key), _VERSION
        )
        item = text | {
            "run_end": get_run_id_end(episode.run),
            "author": episode.author,
            "sensitivity": episode.sensitivity,
            "request": None if token is None else token.stored,
            TYPE_ATTRIBUTE: build_episodes_partition_of_hash(address.tenant, address.type),
            TYPE_ORDER_ATTRIBUTE: parse_episode_id(episode.id),
            TTL_ATTRIBUTE: to_ttl_seconds(episode.expires),
        }
        try:
            self._table.put(put(key, item, "attribute_not_exists(pk)"))
        except ConditionFailed as failed:
            earlier = failed.item
            if earlier is None or token is None or not token.matches(earlier.get("request")):
                message = "another episode has taken this place; send the request again"
                raise Throttled(message) from failed
            return self._decode(address.tenant, earlier)
        return None

    def is_run_deleted(self, address: RunAddress) -> bool:
        """Tell whether the run was deleted: one read of a small item, which seldom exists."""
        return self._table.get(build_deleted_run_key(address.partition)) is not None

    def list_by_type(
        self, tenant: str, agent_type: str, before: str | None, page_size: int, now: int
    ) -> Iterator[Episode]:
        """List an agent type's episodes before an id, newest first: a call per page or megabyte."""
        of = (TYPE_ATTRIBUTE, build_episodes_partition(tenant, agent_type))
        token = None if before is None else parse_episode_id(before)
        below = (TYPE_ORDER_ATTRIBUTE, token or LAST_SORT_TOKEN)
        items = self._table.query_newest(BY_TYPE, of, below, page_size)
        young = takewhile(lambda item: compute_expiry(_get_created(item)) > now, items)
        return (self._decode(tenant, item) for item in young if _get_expiry(item) > now)

    def list_by_run(
        self, tenant: str, run_id: str, before: str | None, limit: int, now: int
    ) -> tuple[Run, Iterator[Episode]]:
        """Read the head of a run, and the newest of its episodes before an id.

        It is a call per megabyte of all.

        Raises:
            NotFound: there is no such run, or its 90 days are over.
        """
        partition = parse_address(tenant, run_id, now).partition
        items = self._table.query_from(
            partition, EPISODE.sort_prefix, RUN.sort, _PAGE, newest_first=True
        )
        run = next(items, None)
        if run is None or run["sk"] != RUN.sort or not is_run(run, run_id):
            raise run_not_found()
        last = None if before is None else parse_episode_id(before)
        older = (
            item
            for item in items
            if EPISODE.has_sort(item["sk"])
            and item[TYPE_ORDER_ATTRIBUTE] < (last or LAST_SORT_TOKEN)
        )
        newest = _select_newest(older, limit)
        return decode_head(run), (self._decode(tenant, item) for item in newest)

    def _decode(self, tenant: str, item: Item) -> Episode:
        """Decode an episode from an item of the table or of the index."""
        return Episode(
            id=build_episode_id(item[TYPE_ORDER_ATTRIBUTE]),
            run=build_run_id(item["pk"], item["run_end"]),
            text=self._values.decode(item, tenant, f"{item['pk']}#{item['sk']}"),
            created=_get_created(item),
            author=item["author"],
            expires=_get_expiry(item),
            sensitivity=item.get("sensitivity"),
        )


def _select_newest(items: Iterable[Item], limit: int) -> list[Item]:
    """Select the newest episodes, newest first: at most `limit`, and what fills a response."""
    heap: list[tuple[str, Item]] = []
    size = 0
    for item in items:
        heappush(heap, (item[TYPE_ORDER_ATTRIBUTE], item))
        size += len(item["val"])
        while len(heap) > limit or size > _MAX_SELECTED_BYTES:
            size -= len(heappop(heap)[1]["val"])
    return [item for _, item in sorted(heap, key=itemgetter(0), reverse=True)]


def _get_created(item: Item) -> int:
    return decode_timestamp(item[TYPE_ORDER_ATTRIBUTE])


def _get_expiry(item: Item) -> int:
    return compute_expiry(get_run_start(item["run_end"]))
