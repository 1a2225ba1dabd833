"""Keys of conversations, of what is learned from them, and of agents' states.

All of a conversation is in one partition. Its messages belong to a generation: replacing them
makes another one, so that a reader never meets two mixed.
"""

import secrets

from functions.platform import item_types
from functions.platform.keys import Digest, Key, encode_timestamp, hash_agent, hash_name


def build_conversation_key(tenant: str, session: str) -> Key:
    return item_types.CONVERSATION.build_key(tenant, session=hash_name("session", session))


def build_conversations_partition(tenant: str) -> str:
    """Build the partition, in the index by group, of all conversations of a tenant."""
    return f"{tenant}#c"


def build_archives_partition(tenant: str) -> str:
    """Build the partition, in the index by group, of all archived conversations of a tenant."""
    return f"{tenant}#v"


def parse_conversation_partition(partition: str) -> tuple[str, str]:
    """Parse the tenant and the hash of the session id."""
    tenant, _, session = partition.split("#")
    return tenant, session


def create_generation() -> str:
    """Create the name of a set of messages: 64 random bits."""
    return secrets.token_hex(8)


def parse_message_index(sort: str) -> int:
    return int(sort.rpartition("#")[2])


def build_uses_partition(tenant: str, reference: Digest) -> str:
    """Build the partition, in the index by group, of all uses of an item of memory."""
    return f"{tenant}#w#{reference}"


def parse_use(sort: str) -> tuple[str, int]:
    """Parse the generation and the index of the message that names an item of memory."""
    generation, index, _ = item_types.USE.parse(sort).split("#")
    return generation, int(index)


def parse_removed_range(sort: str) -> tuple[str, int]:
    """Parse the generation and the revision of a range of messages that are to be deleted."""
    generation, _, revision = item_types.REMOVED_RANGE.parse(sort).partition("#")
    return generation, int(revision)


def build_user_partition(tenant: str, user: str) -> str:
    return item_types.USER_CONVERSATION.build_partition(tenant, user=hash_name("user", user))


def build_user_row_key(tenant: str, user: str, updated: int, partition: str) -> Key:
    """Build the key of the row by which a user's conversation is listed: by its last update."""
    sort = item_types.USER_CONVERSATION.build_sort(
        updated=encode_timestamp(updated), session=parse_conversation_partition(partition)[1]
    )
    return build_user_partition(tenant, user), sort


def build_listed_count_key(tenant: str, user: str, principal: str) -> Key:
    """Build the key of how many conversations a principal has put into a user's list."""
    return build_user_partition(tenant, user), item_types.LISTED_COUNT.build_sort(
        principal=hash_name("agent", principal)
    )


def build_state_key(tenant: str, agent: str, owner: str, key: str) -> Key:
    sort = item_types.STATE.build_sort(state=hash_name("state", key))
    return build_state_partition(tenant, agent, owner), sort


def build_agent_states_partition(tenant: str, agent: str) -> str:
    """Build the partition, in the index by group, of all of an agent's states."""
    return f"{tenant}#s#{hash_agent(agent)}"


def build_state_position(owner: str, updated: int, key: Key) -> str:
    """Build what a state sorts by among its agent's: owner, last update (epoch ms), sort key."""
    return f"{build_owner_prefix(owner)}{encode_timestamp(updated)}{key[1]}"


def build_owner_prefix(owner: str | None) -> str:
    """Build what the positions of an owner's states begin with; of all owners' for None."""
    return "" if owner is None else f"{hash_name('owner', owner)}#"


def build_state_partition(tenant: str, agent: str, owner: str) -> str:
    names = hash_name("states", f"{len(agent)}:{agent}{owner}")
    return item_types.STATE.build_partition(tenant, agent_and_owner=names)


def build_waiting_partition(tenant: str, strategy: str) -> str:
    """Build the partition, in the index by group, of the conversations that wait for a strategy."""
    return f"{tenant}#k#{hash_name('strategy', strategy)}"


def build_known_partition(tenant: str, target: str) -> str:
    """Build the partition, in the index by group, of the items that were learned for a target."""
    return f"{tenant}#k#{hash_name('target', target)}"
