"""Entries written or deleted many at once."""

from functions.api.rooms.entries import entries, entry_store
from functions.api.rooms.namespaces import namespaces
from functions.api.rooms.queries import queries
from functions.api.services import Services
from functions.entries.batch import Batches


def batches(services: Services) -> Batches:
    """Many entries written, or deleted by filters."""
    store, seen = services.use(entry_store), services.use(namespaces)
    found = services.use(queries)
    return Batches(services.use(entries), store, found, seen, services.clock)
