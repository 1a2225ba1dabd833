"""References of entries and episodes: the short ones, and those with whole ids."""

from functions.entries.model import Entry
from functions.platform.references import build_reference
from functions.platform.run_keys import shorten_episode


def build_entry_references(entry: Entry) -> tuple[str, str]:
    """Build an entry's short reference, and the one with its whole id."""
    agent = (entry.agent_id,) if entry.policy.is_private else ()
    short = f"{entry.policy.id_letter}{entry.nonce}"
    return build_reference("entries", short, *agent), build_reference("entries", entry.id)


def build_episode_references(run_id: str, id: str) -> tuple[str, str]:
    """Build an episode's short reference, and the one with whole ids."""
    short = build_reference("episodes", *shorten_episode(run_id, id))
    return short, build_reference("episodes", run_id, id)
