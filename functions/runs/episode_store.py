"""Reads and writes of episodes."""

from collections.abc import Iterable, Iterator
from itertools import takewhile

from functions.platform import run_keys, schema
from functions.platform.errors import Throttled
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import decode_timestamp
from functions.platform.newest_first import iterate_items
from functions.platform.table import ConditionFailed, Table
from functions.platform.ttl import to_ttl_seconds
from functions.platform.values import ValueCodec, read_text
from functions.platform.writes import Write, put_new
from functions.runs.model import Episode, Run, compute_expiry
from functions.runs.rules import parse_address, run_not_found
from functions.runs.store import decode_head, is_run

_VERSION = 1  # no text is ever replaced
_LOST = b'{"content":null,"unreadable":true}'  # in place of a text that was damaged or moved


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
        """Write an episode at the key of what it sorts by, and audit records: one write.

        Returns None, or what an earlier try of the same request wrote.
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
            schema.TYPE_ATTRIBUTE: run_keys.build_episodes_partition_of_hash(
                address.tenant, address.type
            ),
            schema.GROUP_ATTRIBUTE: run_keys.build_run_episodes_partition(address),
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
        """Tell whether the run was deleted: one read of a small item, which seldom exists."""
        return self._table.get(run_keys.build_deleted_run_key(address.partition)) is not None

    def list_by_type(
        self, tenant: str, agent_type: str, before: str | None, page_size: int, now: int
    ) -> Iterator[Episode]:
        """List an agent type's episodes before an id, newest first: a call per page or megabyte."""
        token = None if before is None else run_keys.parse_episode_id(before)
        items = self._table.query_index(
            schema.BY_TYPE,
            f"{schema.TYPE_ATTRIBUTE} = :type AND {schema.TYPE_ORDER_ATTRIBUTE} < :below",
            newest_first=True,
            page_size=page_size,
            type=run_keys.build_episodes_partition(tenant, agent_type),
            below=token or run_keys.LAST_SORT_TOKEN,
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
        self, tenant: str, run_id: str, before: str | None, count: int, now: int
    ) -> tuple[Run, Iterator[Episode]]:
        """Read the head of a run, and list its episodes before an id, newest first.

        The index that lists them may lag behind an append.

        Args:
            count: how many the first two calls read.
        """
        address = parse_address(tenant, run_id, now)
        head = self._table.get(address.item_key)
        if not is_run(head, run_id):
            raise run_not_found()
        token = None if before is None else run_keys.parse_episode_id(before)
        partition = run_keys.build_run_episodes_partition(address)
        items = iterate_items(self._table, partition, token, count)
        return decode_head(head), (self._decode(tenant, item) for item in items)

    def _decode_text(self, tenant: str, item: Item) -> bytes:
        return self._values.decode(item, tenant, f"{item['pk']}#{item['sk']}", _VERSION)

    def _decode(self, tenant: str, item: Item) -> Episode:
        return Episode(
            id=run_keys.build_episode_id(item[schema.TYPE_ORDER_ATTRIBUTE]),
            run_id=run_keys.build_run_id(item["pk"], item[schema.TYPE_ATTRIBUTE], item["run_end"]),
            text=read_text(item, lambda: self._decode_text(tenant, item), _LOST),
            created_at=_get_created(item),
            created_by=item["created_by"],
            expires_at=_get_expiry(item),
            sensitivity=item.get("sensitivity"),
        )


def _get_created(item: Item) -> int:
    return decode_timestamp(item[schema.TYPE_ORDER_ATTRIBUTE])


def _get_expiry(item: Item) -> int:
    return compute_expiry(run_keys.get_run_start(item["run_end"]))
