"""Reads and writes of episodes."""

from collections.abc import Iterator
from heapq import nlargest
from operator import itemgetter

from functions.platform.errors import Throttled
from functions.platform.idempotency import RequestToken
from functions.platform.item_types import EPISODE, RUN
from functions.platform.items import Item
from functions.platform.keys import decode_timestamp
from functions.platform.run_keys import (
    LAST_SORT_TOKEN,
    RunAddress,
    build_episode_id,
    build_episode_key,
    build_episodes_partition,
    build_episodes_partition_of_hash,
    build_run_id,
    get_run_id_end,
    parse_episode_id,
)
from functions.platform.schema import TTL_ATTRIBUTE, TYPE_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.ttl import to_ttl_seconds
from functions.platform.values import ValueCodec
from functions.platform.writes import put
from functions.runs.model import Episode, Run
from functions.runs.rules import parse_address, run_not_found
from functions.runs.store import RunStore, get_expiry, query_by_type

_PAGE = 1000
_VERSION = 1  # no text is ever replaced


class EpisodeStore:
    """Reads and writes the episodes of all tenants."""

    def __init__(self, table: Table, values: ValueCodec, runs: RunStore) -> None:
        self._table = table
        self._values = values
        self._runs = runs

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

    def list_by_type(
        self, tenant: str, agent_type: str, before: str | None, page_size: int, now: int
    ) -> Iterator[Episode]:
        """List an agent type's episodes before an id, newest first: a call per page."""
        partition = build_episodes_partition(tenant, agent_type)
        token = None if before is None else parse_episode_id(before)
        items = query_by_type(self._table, partition, now, token, page_size)
        return (self._decode(tenant, item) for item in items)

    def list_by_run(
        self, tenant: str, run_id: str, before: str | None, limit: int, now: int
    ) -> tuple[Run, Iterator[Episode]]:
        """Read a run, and the newest of its episodes before an id: a call per megabyte of all.

        Raises:
            NotFound: there is no such run, or its 90 days are over.
        """
        partition = parse_address(tenant, run_id, now).partition
        items = self._table.query_from(
            partition, EPISODE.sort_prefix, RUN.sort, _PAGE, newest_first=True
        )
        run = next(items, None)
        if run is None or run["sk"] != RUN.sort or run["run"] != run_id:
            raise run_not_found()
        last = None if before is None else parse_episode_id(before)
        older = (
            item
            for item in items
            if item[TYPE_ORDER_ATTRIBUTE] < (last or LAST_SORT_TOKEN) and get_expiry(item) > now
        )
        newest = nlargest(limit, older, key=itemgetter(TYPE_ORDER_ATTRIBUTE))
        return self._runs.decode(tenant, run), (self._decode(tenant, item) for item in newest)

    def _decode(self, tenant: str, item: Item) -> Episode:
        """Decode an episode from an item of the table or of the index."""
        sort_token: str = item[TYPE_ORDER_ATTRIBUTE]
        return Episode(
            id=build_episode_id(sort_token),
            run=build_run_id(item["pk"], item["run_end"]),
            text=self._values.decode(item, tenant, f"{item['pk']}#{item['sk']}"),
            created=decode_timestamp(sort_token),
            author=item["author"],
            sensitivity=item.get("sensitivity"),
        )
