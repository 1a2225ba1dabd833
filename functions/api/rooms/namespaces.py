"""Namespaces."""

from functions.api.services import Services
from functions.namespaces.service import Namespaces
from functions.namespaces.store import NamespaceStore


def namespaces(services: Services) -> Namespaces:
    """Their permissions."""
    return Namespaces(NamespaceStore(services.table), services.clock)
