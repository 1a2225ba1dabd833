"""Receipts of calls."""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The numbers of what `forget` deleted.

    Attributes:
        entries: of the user.
        conversations: of the user, archived ones included.
        states: that the user owned.
        facts: about the user.
        items: that a reference named.
        objects: in the user's spaces.
    """

    entries: int = 0
    conversations: int = 0
    states: int = 0
    facts: int = 0
    items: int = 0
    objects: int = 0

    def add(self, counts: Mapping[str, int]) -> "Forgotten":
        """Return the receipt with what one more request deleted."""
        names = ("entries", "conversations", "states", "facts", "objects")
        return replace(self, **{name: getattr(self, name) + counts[name] for name in names})
