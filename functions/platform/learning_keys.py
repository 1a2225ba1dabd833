"""Keys of what is learned from conversations: positions of strategies, and learned items."""

from functions.platform.item_types import LEARNING_POSITION
from functions.platform.keys import Key, hash_name


def build_position_key(tenant: str, session: str, strategy: str) -> Key:
    """Build the key of how far a strategy has read a conversation."""
    return LEARNING_POSITION.build_key(tenant, session=session, strategy=strategy)


def build_waiting_partition(tenant: str, strategy: str) -> str:
    """Build the partition, in the index by group, of the conversations that wait for a strategy."""
    return f"{tenant}#k#{hash_name('strategy', strategy)}"
