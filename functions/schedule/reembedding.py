"""Embeds again, in the background, what another model or for another index has embedded.

One item says what all vectors are made by. When the settings say something else it becomes due, and
keeps how far a pass over the table has come; so sweeps take turns, and a crash repeats a page.
"""

import time
from collections import Counter
from collections.abc import Callable
from functools import partial

from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.facts.service import Facts
from functions.platform.clock import Clock
from functions.platform.entry_keys import EMBEDDING_KEY, build_entry_prefix
from functions.platform.errors import ServiceError
from functions.platform.item_types import AGENT_VECTOR
from functions.platform.items import Item
from functions.platform.keys import Key, get_due_shard
from functions.platform.observability import log_unexpected
from functions.platform.parallel import run_parallel
from functions.platform.schema import DUE_ATTRIBUTE, DUE_SHARD_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import put
from functions.search.embedding_indexer import EmbeddingIndexer
from functions.vectors.factory import DEFAULT_FORMAT, NO_FORMAT

_AT_ONCE = 250  # items looked at between two looks at the time
_ONCE_MORE = 3_600_000  # ms; functions with the former settings may have written during a pass
_EMBEDDED = "begins_with(sk, :entry) OR begins_with(sk, :vector) AND attribute_exists(fact_id)"
_PREFIXES = {"entry": build_entry_prefix(None), "vector": AGENT_VECTOR.sort_prefix}


class Reembedding:
    """Has all entries and facts embedded as the settings say. Two may be at it at once."""

    def __init__(
        self,
        table: Table,
        mapper: EntryMapper,
        entries: EmbeddingIndexer,
        facts: Facts,
        clock: Clock,
        made_by: str,
    ) -> None:
        self._table = table
        self._mapper = mapper
        self._entries = entries
        self._facts = facts
        self._clock = clock
        self._name = made_by
        self._told = False

    def tell(self) -> Counter[str]:
        """Notes that the settings have changed, if so; looks once in a process: one read.

        Raises:
            ServiceError: the store is out of reach; the next call looks again.
        """
        if self._told:
            return Counter()
        state = self._table.get(EMBEDDING_KEY) or {"made_by": DEFAULT_FORMAT}
        changed = state["made_by"] != self._name
        if changed:
            fresh = {"made_by": self._name, "pages": 0, "last": False}
            due = {} if self._name == NO_FORMAT else _due(self._clock())
            self._table.put(put(EMBEDDING_KEY, fresh | due))
        self._told = True
        return Counter(reembedding_begun=int(changed))

    def go_on(self, state: Item, seconds: float) -> Counter[str]:
        """Goes on with a pass for about so long, from where `state` says; what was embedded.

        Raises:
            ServiceError: the store or the model is out of reach; the page is looked at again.
        """
        if state["made_by"] != self._name:
            return Counter()
        done: Counter[str] = Counter()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            page, after = self._table.scan(state.get("after"), _AT_ONCE, _EMBEDDED, **_PREFIXES)
            done += self._renew(page)
            following = self._following(state, after)
            if not self._noted(following, state) or after is None:
                return done
            state = following
        return done + Counter(stopped=1)

    def _renew(self, page: list[Item]) -> Counter[str]:
        entries = (self._entry(item) for item in page if "fact_id" not in item)
        facts = (item for item in page if "fact_id" in item)
        jobs = self._entries.reembedding_jobs(filter(None, entries)) + self._facts.reembedding_jobs(
            facts
        )
        return Counter(run_parallel([partial(_outcome, job) for job in jobs]))

    def _entry(self, item: Item) -> Entry | None:
        try:
            return self._mapper.to_entry(item)
        except Exception as error:  # noqa: BLE001 - one that can't be read isn't the others' trouble
            log_unexpected(error)
            return None

    def _following(self, state: Item, after: Key | None) -> Item:
        """What is noted behind a page: where the next one begins, or when the next pass does."""
        now, pages = self._clock(), state["pages"] + 1
        if after is not None:
            return state | {"pages": pages, "after": after} | _due(now)
        ended = {"made_by": self._name, "pages": pages, "last": True}
        return ended if state["last"] else ended | _due(now + _ONCE_MORE)

    def _noted(self, following: Item, state: Item) -> bool:
        """Whether it is noted: nobody else has come as far meanwhile."""
        as_seen = "made_by = :name AND pages = :pages"
        seen = {"name": self._name, "pages": state["pages"]}
        try:
            self._table.put(put(EMBEDDING_KEY, following, as_seen, **seen))
        except ConditionFailed:
            return False
        return True


def _due(moment: int) -> Item:
    return {DUE_ATTRIBUTE: moment, DUE_SHARD_ATTRIBUTE: get_due_shard(EMBEDDING_KEY[0])}


def _outcome(job: Callable[[], None]) -> str:
    try:
        job()
    except ServiceError:
        raise
    except Exception as error:  # noqa: BLE001 - as above
        log_unexpected(error)
        return "failed"
    return "embedded"
