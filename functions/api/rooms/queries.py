"""Entries, many at once."""

from functions.api.rooms.entries import entry_store, recency
from functions.api.rooms.namespaces import namespaces
from functions.api.rooms.tasks import governance, tasks
from functions.api.services import Services
from functions.entries.context import Contexts
from functions.entries.query import Queries
from functions.entries.summary import Summaries


def queries(services: Services) -> Queries:
    """Entries by filters."""
    store, seen = services.use(entry_store), services.use(namespaces)
    return Queries(store, services.use(tasks), seen, services.use(recency), services.clock)


def summaries(services: Services) -> Summaries:
    """Agents' memory in figures."""
    store, seen = services.use(entry_store), services.use(namespaces)
    return Summaries(store, services.use(tasks), seen, services.clock)


def contexts(services: Services) -> Contexts:
    """What belongs to a task."""
    return Contexts(services.use(queries), services.use(tasks), services.use(governance))
