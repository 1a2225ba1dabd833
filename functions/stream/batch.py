"""One batch of stream records: what it tells, by which record, and what failed."""

from dataclasses import dataclass, field

from functions.event_log.model import Event, LogName
from functions.platform.keys import Key
from functions.platform.observability import log_unexpected
from functions.stream.records import Source


@dataclass(frozen=True, slots=True)
class Told:
    """An event, and the record that it comes from."""

    event: Event
    source: Source

    @property
    def in_log(self) -> bool:
        """Whether the event was logged before it was announced here."""
        return self.event.type == "memory.archived"


@dataclass(slots=True)
class Batch:
    """What failed so far, and the ids of the events that no log had before.

    Once a record of an item has failed, its later ones wait for it: they fail along, so that the
    events of one entry stay in order.
    """

    failed: dict[str, None] = field(default_factory=dict)  # sequence numbers, in order
    stuck: dict[Key, int] = field(default_factory=dict)  # since which record
    fresh: set[str] = field(default_factory=set)

    def fail(self, source: Source, error: BaseException | None = None) -> None:
        """Has a record, and those of its item that follow, delivered again."""
        self.failed[source.sequence] = None
        self.stuck[source.key] = min(source.number, self.stuck.get(source.key, source.number))
        if error is not None:
            log_unexpected(error, sequence=source.sequence)

    def goes_on(self, source: Source) -> bool:
        """Whether the record may be acted on; if it has to wait, it fails."""
        since = self.stuck.get(source.key)
        if since is None or source.number < since:
            return True
        self.fail(source)
        return False


def by_log(told: list[Told]) -> dict[tuple[str, LogName], list[Told]]:
    """What each tenant's logs don't have yet, in its order."""
    groups: dict[tuple[str, LogName], list[Told]] = {}
    for each in told:
        if not each.in_log:
            groups.setdefault((each.event.tenant, each.event.log), []).append(each)
    return groups
