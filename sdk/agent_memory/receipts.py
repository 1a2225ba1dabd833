"""What calls say that they did."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much `forget` deleted.

    Attributes:
        entries: of the user.
        conversations: of the user.
        states: that the caller kept about the user.
        facts: about the user.
        items: that a reference named.
    """

    entries: int = 0
    conversations: int = 0
    states: int = 0
    facts: int = 0
    items: int = 0
