"""The function that applies task events of other systems (EventBridge)."""

from collections.abc import Callable
from typing import Any

from functions.container import Container
from functions.platform.errors import ServiceError
from functions.platform.observability import log_unexpected, logger
from functions.task_events.model import envelope_of
from functions.task_events.service import Intake

Handler = Callable[[object, object], dict[str, Any]]


class EventRefused(Exception):
    """An event wasn't applied; Lambda tries again, and then moves it to the queue."""


def build_handler(container: Container) -> Handler:
    """Build the function, from event to whether it was applied."""
    settings = container.settings
    intake = Intake(
        container.table,
        container.principal_store,
        container.tasks,
        (str(settings.task_events_tenant), str(settings.task_events_principal)),
        container.clock,
    )

    def handle(event: object, _context: object = None) -> dict[str, Any]:
        try:
            task = intake.take(envelope_of(event))
        except ServiceError as error:
            logger.warning("event refused", extra={"code": error.code})
            raise EventRefused(f"{error.code}: {error.message}") from None
        except Exception as error:  # noqa: BLE001 - whatever it is, Lambda prints its message
            log_unexpected(error)
            raise EventRefused("INTERNAL_ERROR: the log says where") from None
        return {"taken": task is not None, "version": None if task is None else task.version}

    return handle
