"""Registrations of tasks."""

from functions.api.rooms.identity import principal_store
from functions.api.rooms.tasks import governance, task_store
from functions.api.services import Services
from functions.tasks.registrations import Registrations


def registrations(services: Services) -> Registrations:
    """Tasks that callers register."""
    store, governing = services.use(task_store), services.use(governance)
    return Registrations(store, governing, services.clock, services.use(principal_store).kind_of)
