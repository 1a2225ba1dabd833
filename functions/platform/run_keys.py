"""Keys of runs and episodes, and their ids (ADR-043).

All of a run is in one partition, whose name is in the run's id. So is a hash of its agent type: an
append needs to read nothing to be in the index of that type (decisions 30 and 31).
"""

import re
from typing import NamedTuple

from functions.platform import item_types
from functions.platform.keys import (
    BASE32,
    HASH_CHARACTERS,
    TIME_CHARACTERS,
    Digest,
    Key,
    decode_timestamp,
    encode_seed,
    encode_timestamp,
    hash_name,
)

LAST_SORT_TOKEN = "~"  # sorts behind every sort token  # noqa: S105 - no secret
DAY = 86_400_000  # ms
_RUN_ID = re.compile(
    rf"run_([{BASE32}]{{{HASH_CHARACTERS}}})([{BASE32}]{{{HASH_CHARACTERS}}})"
    rf"([{BASE32}]{{{TIME_CHARACTERS}}})([{BASE32}]{{{HASH_CHARACTERS}}})"
)
_SHORT = 8  # characters, 40 random bits: unique in a run
_SHORT_EPISODE = re.compile(rf"[{BASE32}]{{{HASH_CHARACTERS}}}\.[{BASE32}]{{{_SHORT}}}")
_EPISODE_ID = re.compile(rf"epi_([{BASE32}]{{{TIME_CHARACTERS + HASH_CHARACTERS}}})")


class RunAddress(NamedTuple):
    """Tells what a run's id holds.

    Attributes:
        type: the hash of its agent type.
        seed: what distinguishes it from other runs.
        started: epoch ms.
    """

    tenant: str
    type: Digest
    seed: str
    started: int

    @property
    def partition(self) -> str:
        return self.item_key[0]

    @property
    def item_key(self) -> Key:
        return item_types.RUN.build_key(self.tenant, seed=self.seed)

    @property
    def unsigned_id(self) -> str:
        """The run's id without its message authentication code."""
        return f"run_{self.type}{self.seed}{encode_timestamp(self.started)}"

    @property
    def sort_token(self) -> str:
        """Return what the run sorts by among those of its agent type."""
        return encode_timestamp(self.started) + self.seed


def get_run_id_end(run_id: str) -> str:
    """Get the end of a run's id, which no key of its episodes has."""
    return run_id[len("run_") + 2 * HASH_CHARACTERS :]


def build_run_id(partition: str, episodes: str, end: str) -> str:
    """Build a run's id from its partition, that of its type's episodes and the id's end."""
    type, seed = (each.rpartition("#")[2] for each in (episodes, partition))
    return f"run_{type}{seed}{end}"


def create_run_address(tenant: str, agent_type: str, seed: bytes, started: int) -> RunAddress:
    """Create the address of a run that starts now; `seed` is 16 random bytes."""
    type = hash_name("agent_type", agent_type)
    return RunAddress(tenant, type, encode_seed(seed), started)


def parse_run_id(tenant: str, text: str) -> RunAddress | None:
    """Parse the address that a run's id would have in this tenant; None if it has no such form."""
    match = _RUN_ID.fullmatch(text)
    return match and RunAddress(tenant, Digest(match[1]), match[2], decode_timestamp(match[3]))


def build_episode_key(partition: str, sort_token: str) -> Key:
    """Build the key of an episode in a run's partition, from what it sorts by.

    Its time is no part of it: what a request appends has the same key for each retry.
    """
    return partition, item_types.EPISODE.build_sort(request=sort_token[TIME_CHARACTERS:])


def build_episode_sort_token(happened: int, seed: bytes) -> str:
    """Build what an episode sorts by: its time (epoch ms), then 16 random bytes."""
    return encode_timestamp(happened) + encode_seed(seed)


def build_episode_id(sort_token: str) -> str:
    return f"epi_{sort_token}"


def parse_episode_id(text: str) -> str | None:
    """Parse the sort token of the episode with this id; None if it has no such form."""
    match = _EPISODE_ID.fullmatch(text)
    return match and match[1]


def shorten_episode(run_id: str, id: str) -> tuple[str, str]:
    """Give the part of a run's id that names its partition, and the start of an episode's key."""
    seed = run_id[len("run_") + HASH_CHARACTERS :][:HASH_CHARACTERS]
    return seed, id[len("epi_") + TIME_CHARACTERS :][:_SHORT]


def parse_short_episode(tenant: str, seed: str, start: str) -> Key | None:
    """Parse what `shorten_episode` gives: a partition, and how the sort key in it begins."""
    if not _SHORT_EPISODE.fullmatch(f"{seed}.{start}"):
        return None
    return item_types.EPISODE.build_key(tenant, seed=seed, request=start)
