"""Define the levels of sensitivity, and which are stored encrypted (RFC-0015 §9.2)."""

from typing import Literal

Sensitivity = Literal["public", "internal", "confidential", "restricted"]
ENCRYPTED: frozenset[str | None] = frozenset({"confidential", "restricted"})
