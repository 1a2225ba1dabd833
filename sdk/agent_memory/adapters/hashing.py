"""Names of any length and characters as parts of keys and tags."""

import hashlib


def hash_id(id: str) -> str:
    """Return 32 hexadecimal digits that replace an id."""
    return hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
