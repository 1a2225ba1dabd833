"""The item of an instance: all of its working values.

One item holds them all, since the limit of their bytes fits into it. Each write expects the
revision that was read, so that the limit holds whatever runs in parallel.
"""

import secrets
from functools import partial
from typing import NamedTuple

from functions.platform.clock import to_ttl_seconds
from functions.platform.item_types import INSTANCE
from functions.platform.items import Item
from functions.platform.json_text import compress, decompress
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Store
from functions.platform.values import read_text
from functions.platform.writes import ABSENT, put
from functions.working_values.model import ValuesByKey, WorkingValue


class StoredValues(NamedTuple):
    """The values of an instance, and the revision of its item: None if there is no item."""

    values: ValuesByKey
    revision: str | None


class WorkingValueStore(Store):
    """Reads and writes the items of instances."""

    def get(self, tenant: str, instance: str) -> StoredValues:
        """Read an instance's values, expired ones included: one read."""
        item = self._table.get(INSTANCE.build_key(tenant, instance=instance))
        if item is None:
            return StoredValues({}, None)
        values = {
            key: WorkingValue(
                read_text(item, partial(decompress, each["value"])), each["updated_at"]
            )
            for key, each in item["values_by_key"].items()
        }
        return StoredValues(values, item["revision"])

    def replace(
        self, tenant: str, instance: str, seen: StoredValues, values: ValuesByKey, now: int
    ) -> None:
        """Write an instance's values: one write."""
        condition, expected = ABSENT, {}
        if seen.revision is not None:
            condition, expected = "revision = :seen", {"seen": seen.revision}
        item = _encode(values, now)
        self._table.put(
            put(INSTANCE.build_key(tenant, instance=instance), item, condition, **expected)
        )


def _encode(values: ValuesByKey, now: int) -> Item:
    last_expiry = max((value.expires_at for value in values.values()), default=now)
    return {
        "values_by_key": {
            key: {"value": compress(value.value), "updated_at": value.updated_at}
            for key, value in values.items()
        },
        "revision": secrets.token_hex(8),
        TTL_ATTRIBUTE: to_ttl_seconds(last_expiry),
    }
