"""Keys of conversations and of agents' states.

All of a conversation stands in one partition. Its messages belong to a generation: replacing them
makes another one, so that a reader never meets two mixed.
"""

import secrets

from functions.platform.keys import Key, digest, moment

CONVERSATION_SORT, DETAILS_SORT, REMAINS_PREFIX = "h", "d", "g#"


def conversation_item(tenant: str, session: str) -> Key:
    """A conversation's header."""
    return f"{tenant}#v#{digest('session', session)}", CONVERSATION_SORT


def details_item(partition: str) -> Key:
    """What a conversation's header leaves out so that appending stays cheap: its metadata."""
    return partition, DETAILS_SORT


def new_generation() -> str:
    """The name of a set of messages: 60 bits of luck."""
    return secrets.token_hex(8)


def message_item(partition: str, generation: str, index: int) -> Key:
    """A message's item; `index` counts from 0, without gaps."""
    return partition, f"msg#{generation}#{index:012d}"


def request_item(partition: str, generation: str, request: bytes) -> Key:
    """What says at which index a request with an Idempotency-Key was appended."""
    return partition, f"{request_prefix(generation)}{request.hex()}"


def request_prefix(generation: str) -> str:
    """What the sort keys of a generation's requests begin with."""
    return f"k#{generation}#"


def remains_item(partition: str, generation: str) -> Key:
    """What says that a generation's messages are to be removed."""
    return partition, f"{REMAINS_PREFIX}{generation}"


def archive_item(partition: str, ended: int, generation: str) -> Key:
    """What says where the messages of a conversation that ended are kept."""
    return partition, f"r#{moment(ended)}#{generation}"


ARCHIVE_PREFIX = "r#"


def user_partition(tenant: str, user: str) -> str:
    """The partition that lists a user's conversations."""
    return f"{tenant}#u#{digest('user', user)}"


def user_row(tenant: str, user: str, created: int, partition: str) -> Key:
    """The row by which a user's conversation is listed: by creation."""
    return user_partition(tenant, user), f"c#{moment(created)}#{partition.rpartition('#')[2]}"


def state_item(tenant: str, agent: str, owner: str, key: str) -> Key:
    """The item of an agent's state for an owner."""
    return state_partition(tenant, agent, owner), f"s#{digest('state', key)}"


def state_partition(tenant: str, agent: str, owner: str) -> str:
    """The partition of all of an agent's states for an owner."""
    return f"{tenant}#s#{digest('states', f'{len(agent)}:{agent}{owner}')}"
