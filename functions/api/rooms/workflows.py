"""Workflows."""

from functions.api.rooms.namespaces import namespaces
from functions.api.rooms.registrations import registrations
from functions.api.rooms.tasks import agents, tasks
from functions.api.services import Services
from functions.workflows.service import Workflows


def workflows(services: Services) -> Workflows:
    """What a workflow's file sets."""
    seen, set_up = services.use(namespaces), services.use(agents)
    present, register = services.use(tasks), services.use(registrations)
    return Workflows(services.table, seen, set_up, present, register, services.clock)
