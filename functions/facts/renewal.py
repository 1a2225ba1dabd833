"""Facts that are embedded again, by another model or for another index; they stay as they are."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from functions.facts.items import fact_of, item_of
from functions.platform.clock import Clock
from functions.platform.items import Item
from functions.platform.keys import get_tenant
from functions.platform.schema import AGE_ATTRIBUTE
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import put
from functions.vectors.model import VectorSearch


class Renewal:
    """Embeds stored facts as the settings say."""

    def __init__(self, table: Table, vector_search: VectorSearch, clock: Clock) -> None:
        self._table = table
        self._vector_search = vector_search
        self._clock = clock

    def renewals(self, items: Iterable[Item]) -> list[Callable[[], None]]:
        """What embeds those again, of these items, whose vectors are of another model or index."""
        return [
            partial(self._renew, item)
            for item in items
            if not self._vector_search.format.matches(item)
        ]

    def _renew(self, item: Item) -> None:
        """One write; whoever has changed the fact meanwhile has embedded it, too."""
        fact = fact_of(item)
        if fact is None:
            return
        vector = self._vector_search.embed(fact.text)
        renewed = item_of(get_tenant(item["pk"]), fact, vector, self._vector_search.format)
        renewed[AGE_ATTRIBUTE] = self._clock()  # who holds the space in memory is to see it
        place = item["pk"], item["sk"]
        with suppress(ConditionFailed):
            self._table.put(put(place, renewed, "version = :seen", seen=fact.version))
