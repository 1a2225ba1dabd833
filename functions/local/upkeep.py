"""What goes on beside the requests: the change stream, the schedule, what is past its time."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from functions.local import schedule, stream_records, streams, ttl
from functions.local.bootstrap import LOG_TABLE, MEMORY_TABLE, Service
from functions.local.data_folder import DataFolder
from functions.local.database import Database
from functions.local.settings import LocalSettings


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Made before any process is forked off, it runs in one of them alone.

    Attributes:
        stream: the ARN of the memory table's change stream.
    """

    service: Service
    folder: DataFolder
    store: Database
    stream: str
    settings: LocalSettings

    @contextmanager
    def running(self) -> Iterator[None]:
        """Does all of it, in threads."""
        service = self.service
        with ExitStack() as stack:
            stack.enter_context(
                streams.running(service.lifecycle, self.stream, self.folder, self._trim())
            )
            stack.enter_context(schedule.running(service.maintenance, self.settings.sweep_seconds))
            if self.store.engine is not None:
                stack.enter_context(ttl.running(MEMORY_TABLE, LOG_TABLE))
            yield

    def _trim(self) -> streams.Trim | None:
        if self.store.engine is None:
            return None
        return partial(stream_records.trim, self.folder.database, MEMORY_TABLE)
