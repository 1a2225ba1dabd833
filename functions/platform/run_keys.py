"""Keys of runs and episodes, and their ids (ADR-043).

All items of a run are in one partition, whose name is in the run's id. The id also has a hash of
the agent type, so an append is in that type's index without a read (decisions 30 and 31).
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
    """The parts of a run's id.

    Attributes:
        type: the hash of its agent type.
        seed: tells it from other runs.
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
        """Return the run's position among the runs of its agent type."""
        return encode_timestamp(self.started) + self.seed


def get_run_id_end(run_id: str) -> str:
    """Get the end of a run's id, which the keys of its episodes lack."""
    return run_id[len("run_") + 2 * HASH_CHARACTERS :]


def build_run_id(partition: str, episodes: str, end: str) -> str:
    """Build a run's id from its partition, its type's partition and the id's end."""
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
    """Build the key of an episode in a run's partition from its sort token.

    The key has no time, so a retry appends under the same key.
    """
    return partition, item_types.EPISODE.build_sort(request=sort_token[TIME_CHARACTERS:])


def build_episode_sort_token(happened: int, seed: bytes) -> str:
    """Build the sort token of an episode: its time (epoch ms), then 16 random bytes."""
    return encode_timestamp(happened) + encode_seed(seed)


def build_episode_id(sort_token: str) -> str:
    return f"epi_{sort_token}"


def parse_episode_id(text: str) -> str | None:
    """Parse the sort token of the episode with this id; None if it has no such form."""
    match = _EPISODE_ID.fullmatch(text)
    return match and match[1]


def shorten_episode(run_id: str, id: str) -> tuple[str, str]:
    """Return the part of a run's id that names its partition, and the start of an episode's key."""
    seed = run_id[len("run_") + HASH_CHARACTERS :][:HASH_CHARACTERS]
    return seed, id[len("epi_") + TIME_CHARACTERS :][:_SHORT]


def parse_short_episode(tenant: str, seed: str, start: str) -> Key | None:
    """Parse the result of `shorten_episode`: a partition, and the prefix of the sort key."""
    if not _SHORT_EPISODE.fullmatch(f"{seed}.{start}"):
        return None
    return item_types.EPISODE.build_key(tenant, seed=seed, request=start)
