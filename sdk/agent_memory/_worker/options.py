"""The options of a worker."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WorkerOptions:
    """The options of `Worker` and its `run`; times in seconds."""

    lease: int
    grace: float
    poll: float
    once: bool
    max_tasks: int | None

    @property
    def interval(self) -> float:
        """The time between two checks of the lease and the assignment of a running task."""
        return min(self.poll, self.lease / 4)
