"""Working values of an agent's instance, as they come and as they are kept."""

from dataclasses import dataclass

MOST_INSTANCE_BYTES = 131_072
LIFETIME = 3_600_000  # ms


@dataclass(frozen=True, slots=True)
class WorkingValue:
    """A value. `text` is compact JSON; times are epoch ms."""

    text: bytes
    updated: int

    @property
    def expires(self) -> int:
        """From when on it is no longer there."""
        return self.updated + LIFETIME


Held = dict[str, WorkingValue]
"""An instance's values by their keys."""
