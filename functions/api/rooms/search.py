"""What is found by meaning: entries, and facts."""

from functions.api.rooms.entries import entry_store, recency
from functions.api.rooms.queries import queries
from functions.api.rooms.tasks import tasks
from functions.api.services import Services
from functions.facts.service import Facts
from functions.search.service import Search
from functions.vectors.choice import meanings_of
from functions.vectors.model import Meanings


def meanings(services: Services) -> Meanings:
    """How meanings are found."""
    return meanings_of(services.settings, services.table, services.clock)


def search(services: Services) -> Search:
    """Entries by what they mean."""
    return Search(
        services.use(meanings),
        services.use(entry_store),
        services.use(queries),
        services.use(tasks),
        services.use(recency),
        services.clock,
    )


def facts(services: Services) -> Facts:
    """Facts."""
    return Facts(services.table, services.use(meanings), services.clock)
