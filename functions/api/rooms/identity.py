"""Principals and their keys."""

from functions.api.services import Services
from functions.identity.service import Identity
from functions.identity.store import PrincipalStore


def identity(services: Services) -> Identity:
    """Who calls."""
    return Identity(
        PrincipalStore(services.table),
        services.root_key,
        services.clock,
        services.settings.key_cache_seconds,
    )
