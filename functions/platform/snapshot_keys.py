"""Keys of OpenWOP memories. All of a memory stands in one partition, its entries by position.

A position is a number that each write of a memory takes, higher than all before (decision 20):
milliseconds since the epoch, and ten bits that tell apart what happens within one.
"""

import re
import secrets

from functions.platform.keys import Key, digest, id_of, moment, moment_of

MEMORY_SORT, ENTRY_PREFIX, REMOVAL_PREFIX, HOLD_PREFIX = "o", "o#", "d#", "r#"
_BITS = 10
_POSITION, _LUCK, _MEMORY, _SEED = 12, 10, 25, 26  # characters of 5 bits
_WORD = "[0-9a-hjkmnp-tv-z]"
_ENTRY_ID = re.compile(rf"mem_({_WORD}{{{_POSITION}}})({_WORD}{{{_LUCK}}})")
_RUN_ID = re.compile(rf"run_{_WORD}{{{_SEED}}}({_WORD}{{{_MEMORY}}})")
_REFERENCE = re.compile(rf"mref_{_WORD}{{{_SEED}}}({_WORD}{{{_MEMORY}}})")


def first_position(now: int) -> int:
    """The first position of a millisecond."""
    return now << _BITS


def moment_of_position(position: int) -> int:
    """The millisecond (epoch) that a position lies in."""
    return position >> _BITS


def _text(position: int) -> str:
    """A position as text that sorts by it."""
    within = moment(position & (1 << _BITS) - 1)
    return moment(position >> _BITS) + within[-(_BITS // 5) :]


def position_of(sort: str) -> int:
    """The position that a sort key ends with."""
    text = sort.rpartition("#")[2]
    within = len(text) - _BITS // 5
    return moment_of(text[:within]) << _BITS | moment_of(text[within:])


def memory_name(principal: str, agent: str, scope: str) -> str:
    """What stands for a memory in keys: 125 bits of who minted it, for which agent and scope."""
    names = "".join(f"{len(name)}:{name}" for name in (principal, agent, scope))
    return digest("memory", names, _MEMORY)


def reference(seed: bytes, memory: str) -> str:
    """A memory's reference; `seed` are the 16 bytes that nobody else can make."""
    return id_of("mref", seed) + memory


def memory_of_reference(text: str) -> str | None:
    """The memory that a reference names, if it has the form of one."""
    match = _REFERENCE.fullmatch(text)
    return match and match[1]


def run_id(seed: bytes, memory: str) -> str:
    """The id of a run on a memory."""
    return id_of("run", seed) + memory


def memory_of_run(text: str) -> str | None:
    """The memory that a run's id names, if it has the form of one."""
    match = _RUN_ID.fullmatch(text)
    return match and match[1]


def new_luck() -> str:
    """What makes an entry's id fit no other memory, and none that is guessed."""
    return id_of("", secrets.token_bytes(16))[-_LUCK:]


def entry_id(position: int, luck: str) -> str:
    """The id of the entry at a position."""
    return f"mem_{_text(position)}{luck}"


def parse_memory_entry_id(text: str) -> tuple[int, str] | None:
    """Position and luck of an entry's id, if it has the form of one."""
    match = _ENTRY_ID.fullmatch(text)
    return match and (position_of(match[1]), match[2])


def memory_partition(tenant: str, memory: str) -> str:
    """The partition of a memory."""
    return f"{tenant}#o#{memory}"


def head_item(partition: str) -> Key:
    """The item that says which position a memory has come to."""
    return partition, MEMORY_SORT


def entry_item(partition: str, position: int) -> Key:
    """The entry at a position."""
    return partition, ENTRY_PREFIX + _text(position)


def tag_prefix(tag: str) -> str:
    """What the sort keys of the rows of a tag begin with."""
    return f"x#{digest('tag', tag)}#"


def tag_row(partition: str, tag: str, position: int) -> Key:
    """The row by which the entry at a position is found by a tag."""
    return partition, tag_prefix(tag) + _text(position)


def removal_row(partition: str, position: int) -> Key:
    """The row that says which entry was deleted at a position."""
    return partition, REMOVAL_PREFIX + _text(position)


def hold_row(partition: str, position: int) -> Key:
    """The row of an open run; its position is that of the run's snapshot."""
    return partition, HOLD_PREFIX + _text(position)


def run_item(partition: str, run: str) -> Key:
    """A run's item."""
    return partition, f"u#{run}"


def secrets_item(partition: str, run: str) -> Key:
    """The sealed secrets of a run."""
    return partition, f"k#{run}"


def request_item(partition: str, key: bytes) -> Key:
    """What says at which position a put with an Idempotency-Key was carried out."""
    return partition, f"q#{key.hex()}"
