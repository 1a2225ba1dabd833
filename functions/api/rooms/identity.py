"""Principals and their keys."""

from functools import partial

from functions.api.services import Services, root_key
from functions.identity.service import Identity
from functions.identity.store import PrincipalStore


def principal_store(services: Services) -> PrincipalStore:
    """Principals as they are stored."""
    return PrincipalStore(services.table)


def identity(services: Services) -> Identity:
    """Who calls."""
    return Identity(
        services.use(principal_store),
        partial(services.use, root_key),
        services.clock,
        services.settings.key_cache_seconds,
    )
