"""Keys of what is learned from conversations: positions of strategies, and learned items."""

from functions.platform.item_types import LEARNED_ITEM, LEARNING_POSITION
from functions.platform.keys import Key, hash_name


def build_position_key(tenant: str, session: str, strategy: str) -> Key:
    """Build the key of how far a strategy has read a conversation."""
    return LEARNING_POSITION.build_key(tenant, session=session, strategy=strategy)


def build_learned_key(tenant: str, session: str, strategy: str, ref: str) -> Key:
    """Build the key of what says from which messages of a conversation an item was learned."""
    item = hash_name("learned", ref)
    return LEARNED_ITEM.build_key(tenant, session=session, strategy=strategy, item=item)


def build_waiting_partition(tenant: str, strategy: str) -> str:
    """Build the partition, in the index by group, of the conversations that wait for a strategy."""
    return f"{tenant}#k#{hash_name('strategy', strategy)}"


def build_known_partition(tenant: str, target: str) -> str:
    """Build the partition, in the index by group, of the items that were learned for a target."""
    return f"{tenant}#k#{hash_name('target', target)}"
