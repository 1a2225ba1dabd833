"""Conversations, their archives, and agents' states."""

from functions.api.services import Services
from functions.conversations.appends import Appends
from functions.conversations.archives import Archives
from functions.conversations.items import ConversationItems
from functions.conversations.pops import Pops
from functions.conversations.remains import Remains
from functions.conversations.retention import Retention
from functions.conversations.service import Conversations
from functions.conversations.states import States
from functions.conversations.store import ConversationStore
from functions.platform.cold import ColdStorage, cold_storage
from functions.platform.values import Values


def conversations(services: Services) -> Conversations:
    """Conversations and their messages."""
    table, clock = services.table, services.clock
    items, cold = services.use(_items), services.use(_cold_storage)
    store = ConversationStore(table, items)
    remains = Remains(table, store)
    retention = Retention(table, items, remains, cold, clock)
    appends, pops = Appends(store, items, clock), Pops(store, items, clock)
    return Conversations(store, items, appends, pops, remains, retention, clock)


def archives(services: Services) -> Archives:
    """What retention put away."""
    return Archives(services.table, services.use(_items), services.use(_cold_storage))


def states(services: Services) -> States:
    """Agents' states."""
    return States(services.table, Values(services.cipher), services.clock)


def _items(services: Services) -> ConversationItems:
    return ConversationItems(Values(services.cipher))


def _cold_storage(services: Services) -> ColdStorage | None:
    return cold_storage(services.settings)
