"""Store, read and delete working values of an agent's instance (ADR-043 Tier 1)."""

from functions.identity.model import Principal
from functions.platform import limits
from functions.platform.clock import Clock, format_duration
from functions.platform.errors import CapacityExceeded, NotFound
from functions.platform.json_text import dumps_checked
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed
from functions.working_values.model import (
    NewWorkingValue,
    ValuesByKey,
    WorkingValue,
    select_live,
    total_bytes,
)
from functions.working_values.store import WorkingValueStore

_BUSY, _ATTEMPTS = "others are writing this instance's values", 40  # attempts


class WorkingValues:
    """The working values of the instances of a caller's tenant."""

    def __init__(self, store: WorkingValueStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def put(self, caller: Principal, instance: str, key: str, new: NewWorkingValue) -> WorkingValue:
        """Store a value for `WORKING_VALUE_LIFETIME`, with a read and a write.

        Raises:
            ValueTooLarge: the value alone exceeds `limits.MAX_INSTANCE_BYTES`.
            CapacityExceeded: all values of the instance together exceed it.
        """
        text = dumps_checked(new.value, "value", limits.MAX_INSTANCE_BYTES)
        (found, revision), now = self._store.get(caller.tenant, instance), self._clock()
        values, value = select_live(found, now), WorkingValue(text, now)
        after = values | {key: value}
        if total_bytes(after) > limits.MAX_INSTANCE_BYTES:
            in_use = total_bytes(values)
            raise CapacityExceeded("working_bytes", in_use, limits.MAX_INSTANCE_BYTES)
        self._store.replace(caller.tenant, instance, revision, after, now)
        return value

    def get(self, caller: Principal, instance: str, key: str) -> WorkingValue:
        """Get one value: one read.

        Raises:
            NotFound: the instance has no such value, or it has expired.
        """
        return _existing(self.get_all(caller, instance), key)

    def get_all(self, caller: Principal, instance: str) -> ValuesByKey:
        """Get all values of an instance: one read."""
        return select_live(self._store.get(caller.tenant, instance)[0], self._clock())

    @retry_on(ConditionFailed, _BUSY, attempts=_ATTEMPTS)
    def delete(self, caller: Principal, instance: str, key: str) -> None:
        """Delete a value: a read and a write.

        Raises:
            NotFound: the instance has no such value, or it has expired.
        """
        (found, revision), now = self._store.get(caller.tenant, instance), self._clock()
        values = select_live(found, now)
        _existing(values, key)
        del values[key]
        self._store.replace(caller.tenant, instance, revision, values, now)


def _existing(values: ValuesByKey, key: str) -> WorkingValue:
    if key not in values:
        lifetime = format_duration(limits.WORKING_VALUE_LIFETIME)
        raise NotFound(f"this instance has no value of this key; a value is kept for {lifetime}")
    return values[key]
