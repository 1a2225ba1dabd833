"""The function that applies other systems' task events, delivered by EventBridge."""

from collections.abc import Callable
from typing import Any

from functions.container import Container
from functions.platform.errors import ReadOnly, ServiceError
from functions.platform.observability import log_service_error, log_unexpected
from functions.task_events.service import TaskEventIngester

Handler = Callable[[object, object], dict[str, Any]]


class TaskEventRejected(Exception):
    """An event wasn't applied; Lambda tries again, and then sends it to the dead-letter queue."""


def build_handler(container: Container) -> Handler:
    """Build the function, which returns whether an event was applied, and the task's version."""
    settings = container.settings
    ingester = TaskEventIngester(
        container.processed_events,
        container.principal_store,
        container.task_reader,
        container.tasks,
        (str(settings.task_events_tenant), str(settings.task_events_principal)),
        container.clock,
    )

    def handle(event: object, _context: object = None) -> dict[str, Any]:
        try:
            if settings.is_read_only:
                raise ReadOnly
            task = ingester.ingest(event)
        except ServiceError as error:
            log_service_error("task event rejected", error)
            raise TaskEventRejected(f"{error.code}: {error.message}") from None
        except Exception as error:  # noqa: BLE001 - whatever it is, Lambda prints its message
            log_unexpected(error)
            raise TaskEventRejected("INTERNAL_ERROR: see the log") from None
        return {"applied": task is not None, "version": None if task is None else task.version}

    return handle
