"""The item of an instance: all of its working values.

One item holds all values, since the limit of their bytes fits into it. Each write has the condition
of the revision that was read, so that concurrent writes can't exceed the limit.
"""

import secrets
from functools import partial

from functions.platform.clock import to_ttl_seconds
from functions.platform.item_types import INSTANCE
from functions.platform.items import Item
from functions.platform.json_text import compress, decompress
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Store
from functions.platform.values import read_text
from functions.platform.writes import put_version
from functions.working_values.model import ValuesByKey, WorkingValue


class WorkingValueStore(Store):
    """Reads and writes the items of instances."""

    def get(self, tenant: str, instance: str) -> tuple[ValuesByKey, str | None]:
        """Read an instance's values, including expired ones, and their revision: one read."""
        item = self._table.get(INSTANCE.build_key(tenant, instance=instance))
        if item is None:
            return {}, None
        values = {
            key: WorkingValue(
                read_text(item, partial(decompress, each["value"])), each["updated_at"]
            )
            for key, each in item["values_by_key"].items()
        }
        return values, item["revision"]

    def replace(
        self, tenant: str, instance: str, revision: str | None, values: ValuesByKey, now: int
    ) -> None:
        """Replace an instance's values at a revision: one write."""
        key = INSTANCE.build_key(tenant, instance=instance)
        self._table.put(put_version(key, _encode(values, now), revision, "revision"))


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
