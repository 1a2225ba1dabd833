"""Workflows."""

from functions.api.rooms.namespaces import namespaces
from functions.api.rooms.tasks import agents, tasks
from functions.api.services import Services
from functions.workflows.service import Workflows


def workflows(services: Services) -> Workflows:
    """What a workflow's file sets."""
    seen, set_up = services.use(namespaces), services.use(agents)
    return Workflows(services.table, seen, set_up, services.use(tasks), services.clock)
