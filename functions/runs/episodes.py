"""Episodes: appended in one write, recalled by one query (ADR-043 Tier 2; contract §8)."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import Throttled
from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import decode_timestamp
from functions.platform.run_keys import (
    LAST_SORT_TOKEN,
    build_episode_id,
    build_episode_sort_token,
    build_episodes_partition,
    parse_episode_id,
)
from functions.platform.schema import TYPE_ORDER_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.quotas.model import EPISODES
from functions.quotas.service import Quotas
from functions.runs.items import RunItems
from functions.runs.model import Episode, Run
from functions.runs.rules import episode_text, expires
from functions.runs.store import RunStore

if TYPE_CHECKING:
    from functions.runs.requests import NewEpisode


class Episodes:
    """The episodes of a caller's tenant; each of its principals may use them all."""

    def __init__(
        self, table: Table, store: RunStore, items: RunItems, quotas: Quotas, clock: Clock
    ) -> None:
        self._table = table
        self._store = store
        self._items = items
        self._quotas = quotas
        self._clock = clock

    def append(
        self, caller: Principal, run_id: str, new: NewEpisode, token: RequestToken | None
    ) -> Episode:
        """Appends an episode to a run, ended or not: one write, and nothing read before it.

        Raises:
            NotFound: no run of the last 90 days has this id.
            ValueTooLarge, ValidationFailed: content or metadata can't be kept.
            CapacityExceeded: the tenant has 100,000 episodes.
            IdempotencyConflict: the token's key came with another body.
        """
        now = self._clock()
        address = self._store.address(caller.tenant, run_id, now)
        request = (token or RequestToken.create()).key
        episode = Episode(
            id=build_episode_id(build_episode_sort_token(now, request)),
            run=run_id,
            text=episode_text(new),
            created=now,
            author=caller.id,
            sensitivity=new.sensitivity,
        )
        self._quotas.assert_room(caller.tenant, EPISODES)
        try:
            self._table.put(self._items.episode(address, episode, request, token))
        except ConditionFailed as failed:
            return self._first(caller, failed.item, token)
        self._quotas.add_item(caller.tenant, EPISODES)
        return episode

    def _first(self, caller: Principal, item: Item | None, token: RequestToken | None) -> Episode:
        """The episode that this request appended before; nobody else's can stand in its place."""
        if item is None or token is None or not token.matches(item.get("req")):
            raise Throttled("another episode has taken this place; send the request again")
        return self._items.episode_of(caller.tenant, item)

    def of_type(
        self, caller: Principal, agent_type: str, before: str | None, at_once: int
    ) -> Iterator[Episode]:
        """An agent type's episodes across its runs, newest first: a call per `at_once`.

        The index that they come from may lag behind an append.

        Args:
            before: the id of an episode; only older ones.
        """
        partition = build_episodes_partition(caller.tenant, agent_type)
        found = self._store.of_type(partition, self._clock(), _order(before), at_once)
        return (self._items.episode_of(caller.tenant, item) for item in found)

    def of_run(
        self, caller: Principal, run_id: str, before: str | None, most: int
    ) -> tuple[Run, Iterator[Episode]]:
        """A run and the newest `most` of its episodes, newest first; it reads them all.

        Raises:
            NotFound: no run of the last 90 days has this id.
        """
        now = self._clock()
        run, found = self._store.with_episodes(caller.tenant, run_id, now)
        last = _order(before) or LAST_SORT_TOKEN
        older = (
            item
            for item in found
            if item[TYPE_ORDER_ATTRIBUTE] < last
            and expires(decode_timestamp(item[TYPE_ORDER_ATTRIBUTE])) > now
        )
        newest = nlargest(most, older, key=itemgetter(TYPE_ORDER_ATTRIBUTE))
        return run, (self._items.episode_of(caller.tenant, item) for item in newest)


def _order(episode: str | None) -> str | None:
    return None if episode is None else parse_episode_id(episode)
