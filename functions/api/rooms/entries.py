"""Entries, one by one."""

from functions.api.rooms.namespaces import namespaces
from functions.api.rooms.tasks import tasks
from functions.api.services import Services
from functions.entries.access import Access
from functions.entries.expiry import Expiry
from functions.entries.items import EntryItems
from functions.entries.recency import Recency
from functions.entries.service import Entries
from functions.entries.store import EntryStore
from functions.entries.writer import EntryWriter


def entry_items(services: Services) -> EntryItems:
    """How entries look as items."""
    return EntryItems(services.cipher)


def entry_store(services: Services) -> EntryStore:
    """Reads."""
    return EntryStore(services.table, services.use(entry_items))


def entry_writer(services: Services) -> EntryWriter:
    """Transactions."""
    return EntryWriter(services.table, services.use(entry_items), services.use(entry_store))


def recency(services: Services) -> Recency:
    """When entries were last read."""
    return Recency(services.use(entry_store), services.clock)


def entries(services: Services) -> Entries:
    """Create, get, change, delete."""
    store, writer = services.use(entry_store), services.use(entry_writer)
    return Entries(
        store,
        writer,
        Expiry(store, writer, services.clock),
        Access(services.use(tasks)),
        services.use(recency),
        services.use(namespaces),
        services.clock,
    )
