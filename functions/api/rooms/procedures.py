"""Procedures, and instances' working memory."""

from functions.api.services import Services
from functions.procedures.service import Procedures
from functions.procedures.store import WorkflowStore
from functions.working_values.service import Instances


def procedures(services: Services) -> Procedures:
    """What workflows have proved to be worth."""
    return Procedures(WorkflowStore(services.table), services.clock)


def instances(services: Services) -> Instances:
    """Instances' working memory."""
    return Instances(services.table, services.clock)
