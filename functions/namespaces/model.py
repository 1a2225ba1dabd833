"""A namespace's permissions, and what is asked about them."""

from dataclasses import dataclass, field
from typing import Literal

Access = Literal["none", "read", "write", "admin"]


@dataclass(frozen=True, slots=True)
class Namespace:
    """A configured namespace; `allow` maps principals to their access (RFC-0015 §2.3)."""

    name: str
    default: Access
    allow: dict[str, Access]
    version: int
    created: int  # epoch ms
    updated: int  # epoch ms
    request: bytes | None = field(default=None, compare=False)
    previous_tokens: tuple[bytes, ...] = field(
        default=(), compare=False
    )  # tokens of earlier requests
