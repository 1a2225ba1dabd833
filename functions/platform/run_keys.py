"""Keys of runs, of their episodes, and of what counts a tenant's episodes (decisions 30 and 31).

All of a run stands in one partition, whose name is in the run's id. So is a digest of its agent
type: an append needs to read nothing to stand in the index of that type.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from functions.platform.keys import Key, digest, id_of, moment, moment_of

EPISODE_PREFIX, RUN_SORT = "ep#", "run"
LAST_ORDER = "~"  # sorts behind every order
DAY = 86_400_000  # ms
_TYPE, _SEED, _TIME, _MAC = 13, 26, 10, 13  # characters of 5 bits
_WORD = "[0-9a-hjkmnp-tv-z]"
_RUN_ID = re.compile(
    rf"run_({_WORD}{{{_TYPE}}})({_WORD}{{{_SEED}}})({_WORD}{{{_TIME}}})({_WORD}{{{_MAC}}})"
)
_EPISODE_ID = re.compile(rf"epi_({_WORD}{{{_TIME + _SEED}}})")


@dataclass(frozen=True, slots=True)
class RunAddress:
    """Where a run stands; `type` is the digest of its agent type, `seed` tells it from others."""

    tenant: str
    type: str
    seed: str
    started: int  # epoch ms

    @property
    def partition(self) -> str:
        return f"{self.tenant}#r#{self.type}{self.seed}"

    @property
    def item(self) -> Key:
        return self.partition, RUN_SORT

    @property
    def named(self) -> str:
        """The run's id but for the code that proves it."""
        return f"run_{self.type}{self.seed}{moment(self.started)}"


def new_address(tenant: str, agent_type: str, seed: bytes, started: int) -> RunAddress:
    """The address of a run that starts now; `seed` are 16 bytes of its own."""
    return RunAddress(tenant, _type(agent_type), _text(seed), started)


def parse_run_id(tenant: str, text: str) -> RunAddress | None:
    """The address that a run's id would have in this tenant; None if it has no such form."""
    match = _RUN_ID.fullmatch(text)
    return match and RunAddress(tenant, match[1], match[2], moment_of(match[3]))


def proof(mac: bytes) -> str:
    """A message authentication code (16 bytes) as it ends a run's id."""
    return _text(mac)[-_MAC:]


def order(happened: int, seed: bytes) -> str:
    """What an episode sorts by: its moment, then luck."""
    return moment(happened) + _text(seed)


def run_order(address: RunAddress) -> str:
    """What a run sorts by among those of its agent type."""
    return moment(address.started) + address.seed


def moment_of_order(order: str) -> int:
    """The moment (epoch ms) that an order begins with."""
    return moment_of(order)


def episode_item(address: RunAddress, request: bytes) -> Key:
    """The place of the episode that a request appends: the same for each retry."""
    return address.partition, EPISODE_PREFIX + _text(request)


def episode_id(order: str) -> str:
    """The id of the episode with this order."""
    return f"epi_{order}"


def order_of_episode(text: str) -> str | None:
    """The order of the episode with this id, if it has the form of one."""
    match = _EPISODE_ID.fullmatch(text)
    return match and match[1]


def episodes_of_type(tenant: str, agent_type: str) -> str:
    """The partition, in the index by type, of all episodes of an agent type."""
    return episodes_by_digest(tenant, _type(agent_type))


def episodes_by_digest(tenant: str, type: str) -> str:
    """The same, where only the type's digest is known."""
    return f"{tenant}#p#{type}"


def runs_of_type(tenant: str, agent_type: str) -> str:
    """The partition, in the index by type, of all runs of an agent type."""
    return f"{tenant}#r#{_type(agent_type)}"


def day_of(happened: int) -> int:
    """The day, counted from the epoch, that a moment (epoch ms) lies in."""
    return happened // DAY


def day_item(tenant: str, day: int) -> Key:
    """What counts the episodes that a tenant appended on a day."""
    return counts_partition(tenant), f"d#{day:08d}"


def warning_item(tenant: str) -> Key:
    """What says that a tenant was warned; it sorts behind the days."""
    return counts_partition(tenant), "w"


def counts_partition(tenant: str) -> str:
    """The partition of a tenant's counts."""
    return f"{tenant}#ec"


def counted_item(tenant: str, places: Iterable[Key]) -> Key:
    """What says that these episodes were counted together."""
    named = "\n".join(f"{partition}\n{sort}" for partition, sort in places)
    return f"{tenant}#ec#{blake2b(named.encode(), digest_size=16).hexdigest()}", "c"


def _type(agent_type: str) -> str:
    return digest("agent type", agent_type, _TYPE)


def _text(raw: bytes) -> str:
    return id_of("", raw)[1:]
