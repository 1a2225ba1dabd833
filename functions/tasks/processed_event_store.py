"""Remember which events of other systems were processed."""

from functions.platform.item_types import PROCESSED_EVENT
from functions.platform.keys import Key
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import TimedStore
from functions.platform.writes import put

_LIFETIME = 15 * 86_400  # seconds; queues of failed events keep them for 14 days


class ProcessedEvents(TimedStore):
    """The events of all tenants that were processed in the last 15 days."""

    def contains(self, tenant: str, source: str, event_id: str) -> bool:
        """Tell whether an event was processed: one read."""
        return self._table.get(_build_key(tenant, source, event_id)) is not None

    def add(self, tenant: str, source: str, event_id: str) -> None:
        """Note that an event was processed: one write."""
        key = _build_key(tenant, source, event_id)
        self._table.put(put(key, {TTL_ATTRIBUTE: self._clock() // 1000 + _LIFETIME}))


def _build_key(tenant: str, source: str, event_id: str) -> Key:
    return PROCESSED_EVENT.build_key(tenant, event=f"{len(source)}:{source}{event_id}")
