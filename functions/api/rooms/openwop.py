"""OpenWOP's runs and memories."""

from functions.api.services import Services, root_key
from functions.openwop.handles import Handles
from functions.openwop.positions import Positions
from functions.openwop.registry import Registry
from functions.openwop.runs import Runs
from functions.openwop.service import Memories
from functions.openwop.store import MemoryStore


def handles(services: Services) -> Handles:
    """References to memories."""
    return Handles(services.use(root_key))


def memory_runs(services: Services) -> Runs:
    """Runs, and what they may see."""
    registry = Registry(services.cipher, services.settings.openwop)
    return Runs(
        services.table,
        services.use(_store),
        services.use(_positions),
        registry,
        services.use(handles),
        services.clock,
    )


def memories(services: Services) -> Memories:
    """Memories."""
    store, positions = services.use(_store), services.use(_positions)
    runs, named = services.use(memory_runs), services.use(handles)
    return Memories(store, positions, runs, named, services.clock)


def _store(services: Services) -> MemoryStore:
    return MemoryStore(services.table)


def _positions(services: Services) -> Positions:
    return Positions(services.table, services.clock)
