"""What an agent's counters hold for an entry until it is known to be there.

Reservations are texts in sets of the agent's item. Each tier has a set, since an eviction depends
on those of episodic memory alone.
"""

from collections.abc import Iterable
from typing import NamedTuple, Self

from functions.entries.model import Entry
from functions.platform.entry_keys import EntryAddress, parse_agent_address
from functions.platform.items import Item

EPISODIC_RESERVATIONS = "pending_e"
_ATTRIBUTES = {"w": "pending_w", "e": EPISODIC_RESERVATIONS}  # by the letter that texts begin with


class Reservation(NamedTuple):
    """What is reserved for an entry: its place among the entries, and the bytes of its value."""

    address: EntryAddress
    nonce: str
    size: int

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """Return the reservation for an entry of private memory."""
        return cls(entry.address, entry.nonce, entry.value_bytes)

    def render(self) -> str:
        """Render the reservation as the text that stands for it in the agent's item."""
        address = self.address
        return " ".join((address.tier, str(self.size), self.nonce, address.namespace, address.key))


def parse_reservation(partition: str, text: str) -> Reservation:
    """Parse the text of a reservation in the item of the agent with this partition."""
    tier, size, nonce, namespace, key = text.split(" ")
    address = parse_agent_address(partition, tier, namespace, key)
    return Reservation(address, nonce, int(size))


def list_reservations(item: Item) -> list[str]:
    return sorted(text for name in _ATTRIBUTES.values() for text in item.get(name, ()))


def group_reservations(texts: Iterable[str]) -> dict[str, set[str]]:
    """Group the texts of reservations by the attributes of an agent's item that hold them."""
    groups: dict[str, set[str]] = {}
    for text in texts:
        groups.setdefault(_ATTRIBUTES[text[0]], set()).add(text)
    return groups
