"""Record uses of Idempotency-Keys that the written items don't show.

A request that writes one item under a chosen name finds its token there. A batch, a tenant, a
principal or a fact is another item for another body, so its key is stored here.
"""

from functions.platform import item_types
from functions.platform.idempotency import RequestToken
from functions.platform.limits import IDEMPOTENCY_SECONDS
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import ConditionFailed, TimedStore
from functions.platform.writes import put_new


class UsedRequests(TimedStore):
    """The recently used Idempotency-Keys of all tenants."""

    def claim(self, tenant: str, token: RequestToken) -> None:
        """Record the use of an Idempotency-Key: one write of one unit."""
        key = item_types.USED_REQUEST.build_key(tenant, request=token.key.hex())
        use = {"token": token.stored, TTL_ATTRIBUTE: self._clock() // 1000 + IDEMPOTENCY_SECONDS}
        try:
            self._table.put(put_new(key, use))
        except ConditionFailed as failed:
            token.matches((failed.item or {}).get("token"))
