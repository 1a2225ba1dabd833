"""Grants, intents, guardrails, and what a task's end archives."""

from functions.api.rooms.entries import entry_store, entry_writer
from functions.api.rooms.logs import log_store
from functions.api.rooms.registrations import registrations
from functions.api.rooms.tasks import governance, task_store, tasks
from functions.api.services import Services
from functions.entries.archival import Archival
from functions.entries.endings import Endings
from functions.entries.snapshots import SnapshotStore
from functions.tasks.grants import Grants
from functions.tasks.guarding import Guarding


def endings(services: Services) -> Endings:
    """Changes of tasks, and what their end does to their memory."""
    archival = Archival(
        services.use(entry_store),
        services.use(entry_writer),
        SnapshotStore(services.table),
        services.use(task_store),
        services.use(log_store),
        services.clock,
    )
    return Endings(services.use(tasks), services.use(registrations), archival)


def grants(services: Services) -> Grants:
    """Access to tasks' working memory."""
    return Grants(services.use(task_store), services.clock)


def guarding(services: Services) -> Guarding:
    """Coordinators' guardrails."""
    return Guarding(services.use(governance), services.clock)
