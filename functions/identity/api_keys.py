"""API keys: random texts, of which the table has hashes alone."""

import secrets
from hashlib import sha256

from functions.platform.item_types import API_KEY
from functions.platform.keys import Key


def create_api_key() -> str:
    """Create a random API key of 256 bits."""
    return f"am_{secrets.token_urlsafe(32)}"


def build_api_key_key(api_key: str) -> Key:
    """Build the key of the item of an API key. A plain hash conceals it, because it is random."""
    return API_KEY.build_key(sha256=sha256(api_key.encode()).hexdigest())
