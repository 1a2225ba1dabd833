"""Principals and their permissions (contract §2)."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["agent", "coordinator", "user"]
Permission = Literal["memory.read", "memory.write", "memory.admin"]

READ: Permission = "memory.read"
WRITE: Permission = "memory.write"
ADMIN: Permission = "memory.admin"
ALL_PERMISSIONS = frozenset({READ, WRITE, ADMIN})


@dataclass(frozen=True, slots=True)
class Principal:
    """One caller of one tenant (contract §2)."""

    tenant: str
    id: str
    kind: Kind
    permissions: frozenset[str]
    expires: int | None = None  # epoch ms
    created: int = 0  # epoch ms

    @property
    def may_coordinate(self) -> bool:
        return self.kind in ("coordinator", "user")
