"""Receipts of calls."""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The numbers of items that `forget` deleted.

    Attributes:
        entries: of the user.
        conversations: of the user, including archived ones.
        states: that the user owned.
        facts: about the user.
        items: by a reference.
        objects: in the user's spaces.
    """

    entries: int = 0
    conversations: int = 0
    states: int = 0
    facts: int = 0
    items: int = 0
    objects: int = 0

    def add(self, counts: Mapping[str, int]) -> "Forgotten":
        """Add the numbers of another request."""
        names = ("entries", "conversations", "states", "facts", "objects")
        return replace(self, **{name: getattr(self, name) + counts[name] for name in names})
