"""Working values of an agent's instance, and the rules about their bytes and lifetime."""

from typing import Any, NamedTuple

from functions.platform.limits import WORKING_VALUE_LIFETIME
from functions.platform.validation import RequestModel


class NewWorkingValue(RequestModel):
    """Body of `PUT /api/v1/instances/{instance_id}/working/{key}`."""

    value: Any
    """Any JSON."""


class WorkingValue(NamedTuple):
    """A value. `value` is compact JSON; times are epoch ms."""

    value: bytes
    updated_at: int

    @property
    def expires_at(self) -> int:
        """The time (epoch ms) from which the value no longer exists."""
        return self.updated_at + WORKING_VALUE_LIFETIME


ValuesByKey = dict[str, WorkingValue]
"""All values of one instance."""


def select_live(values: ValuesByKey, now: int) -> ValuesByKey:
    """Select the values that have not expired at `now` (epoch ms)."""
    return {key: value for key, value in values.items() if value.expires_at > now}


def total_bytes(values: ValuesByKey) -> int:
    """Count the bytes of values and their keys against their instance's limit."""
    return sum(len(key.encode()) + len(value.value) for key, value in values.items())
