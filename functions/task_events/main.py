"""The entry point of the function that takes task events of other systems."""

from collections.abc import Callable
from functools import cache
from typing import Any

from functions.platform.start import starting

with starting():
    from functions.entries.agents import Agents
    from functions.entries.archival import Archival
    from functions.entries.endings import Endings
    from functions.entries.items import EntryItems
    from functions.entries.snapshots import SnapshotStore
    from functions.entries.store import EntryStore
    from functions.entries.writer import EntryWriter
    from functions.event_log.store import LogStore
    from functions.identity.store import PrincipalStore
    from functions.platform.aws import client
    from functions.platform.clock import Clock, now_ms
    from functions.platform.errors import ServiceError
    from functions.platform.observability import log_unforeseen, logger
    from functions.platform.settings import IntakeSettings
    from functions.platform.table import Table
    from functions.task_events.model import envelope_of
    from functions.task_events.service import Intake
    from functions.tasks.governance import Governance
    from functions.tasks.registrations import Registrations
    from functions.tasks.service import Tasks
    from functions.tasks.store import TaskStore

Handler = Callable[[object, object], dict[str, Any]]


class EventRefused(Exception):
    """An event wasn't carried out; Lambda tries again, and then buries it in the queue."""


def build(settings: IntakeSettings, clock: Clock = now_ms) -> Handler:
    """The intake on the tables that the settings name, as a function from event to answer."""
    dynamodb = client("dynamodb")
    table = Table(dynamodb, settings.memory_table)
    logs = LogStore(Table(dynamodb, settings.log_table))
    principals, task_store = PrincipalStore(table), TaskStore(table)
    governance = Governance(table, task_store, Agents(table, clock).limit)
    tasks = Tasks(task_store, governance, clock)
    registrations = Registrations(task_store, governance, clock, principals.kind_of)
    items = EntryItems(None)
    store = EntryStore(table, items)
    writer = EntryWriter(table, items, store)
    archival = Archival(store, writer, SnapshotStore(table), task_store, logs, clock)
    who = (settings.intake_tenant, settings.intake_principal)
    endings = Endings(tasks, registrations, archival)
    intake = Intake(table, principals, tasks, endings, who, clock)

    def handle(event: object, _context: object = None) -> dict[str, Any]:
        try:
            task = intake.take(envelope_of(event))
        except ServiceError as error:
            logger.warning("event refused", extra={"code": error.code})
            raise EventRefused(f"{error.code}: {error.message}") from None
        except Exception as error:  # noqa: BLE001 - whatever it is, Lambda prints its message
            log_unforeseen(error)
            raise EventRefused("INTERNAL_ERROR: the log says where") from None
        return {"taken": task is not None, "version": None if task is None else task.version}

    return handle


@cache
def _intake() -> Handler:
    with starting():
        return build(IntakeSettings.from_env())


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Takes one task event of another system (EventBridge)."""
    return _intake()(event, context)
