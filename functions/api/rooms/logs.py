"""Event logs, and the intents that some belong to."""

from functions.api.rooms.namespaces import namespaces
from functions.api.rooms.tasks import task_store
from functions.api.services import Services
from functions.event_log.service import Logs
from functions.event_log.store import LogStore
from functions.tasks.intents import Intents


def log_store(services: Services) -> LogStore:
    """Reads and writes of logs."""
    return LogStore(services.log_table)


def intents(services: Services) -> Intents:
    """Intents' access lists."""
    return Intents(services.use(task_store))


def logs(services: Services) -> Logs:
    """Logs, for those who may read them."""
    return Logs(services.use(log_store), services.use(intents), services.use(namespaces))
