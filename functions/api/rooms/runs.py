"""Runs and their episodes."""

from functions.api.services import Services, root_key
from functions.platform.values import Values
from functions.runs.counts import EpisodeCounts
from functions.runs.episodes import Episodes
from functions.runs.ids import RunIds
from functions.runs.items import RunItems
from functions.runs.quota import Quota
from functions.runs.service import Runs
from functions.runs.store import RunStore


def runs(services: Services) -> Runs:
    """Runs."""
    items, ids = services.use(_items), services.use(_ids)
    return Runs(services.table, services.use(_store), items, ids, services.clock)


def episodes(services: Services) -> Episodes:
    """What runs remember."""
    table, clock = services.table, services.clock
    quota = Quota(EpisodeCounts(table, clock), clock)
    return Episodes(table, services.use(_store), services.use(_items), quota, clock)


def _items(services: Services) -> RunItems:
    return RunItems(Values(services.cipher))


def _ids(services: Services) -> RunIds:
    return RunIds(services.use(root_key))


def _store(services: Services) -> RunStore:
    return RunStore(services.table, services.use(_items), services.use(_ids))
