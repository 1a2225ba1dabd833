"""The keys of tenants, principals and API keys."""

import secrets
from hashlib import sha256

from functions.platform.keys import Key, digest


def tenant_item(tenant: str) -> Key:
    """The item that makes a tenant exist."""
    return f"{tenant}#p", "tenant"


def principal_item(tenant: str, principal: str) -> Key:
    """A principal's item; all of a tenant's stand in one partition."""
    return f"{tenant}#p", f"p#{digest('principal', principal)}"


def api_key_item(api_key: str) -> Key:
    """Where the principal of a key is found. Keys are random, so a plain hash hides them."""
    return f"~key#{sha256(api_key.encode()).hexdigest()}", "k"


def new_api_key() -> str:
    """A fresh random API key, 256 bits."""
    return f"am_{secrets.token_urlsafe(32)}"
