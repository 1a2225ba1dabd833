"""What an agent's counters hold for an entry until it is known to be there: as text in a set."""

from typing import NamedTuple, Self

from functions.entries.model import Entry
from functions.platform.entry_keys import EntryAddress, parse_agent_address
from functions.platform.keys import decode_timestamp


class Reservation(NamedTuple):
    """What is reserved for an entry: its place among the entries, and the bytes of its value."""

    address: EntryAddress
    nonce: str
    size: int

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """Return the reservation for an entry of private memory."""
        return cls(entry.address, entry.nonce, entry.size)

    @property
    def created(self) -> int:
        """When the entry was to be created, in epoch ms."""
        return decode_timestamp(self.nonce)

    def render(self) -> str:
        """Render the reservation as the text that stands for it in the agent's item."""
        address = self.address
        return " ".join((address.tier, str(self.size), self.nonce, address.namespace, address.key))


def parse_reservation(partition: str, text: str) -> Reservation:
    """Parse the text of a reservation in the item of the agent with this partition."""
    tier, size, nonce, namespace, key = text.split(" ")
    address = parse_agent_address(partition, tier, namespace, key)
    return Reservation(address, nonce, int(size))
