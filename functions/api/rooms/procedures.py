"""Procedures, and instances' working memory."""

from functions.api.services import Services
from functions.instances.service import Instances
from functions.procedures.service import Procedures
from functions.procedures.store import WorkflowStore


def procedures(services: Services) -> Procedures:
    """What workflows have proved to be worth."""
    return Procedures(WorkflowStore(services.table), services.clock)


def instances(services: Services) -> Instances:
    """Instances' working memory."""
    return Instances(services.table, services.clock)
