"""References: short texts that name an item of any source, and are safe in a path.

Example: `m.session-1.3` is the message 3 of the conversation `session-1`. A character other than
letters, digits, `-` and `_` is written as `~` and the two hexadecimal digits of each of its bytes.

Ids of entries and episodes hold their whole keys, so their references have a part alone that is
unique in a place: the tier and the nonce of an entry, with the agent of a private one, and the
start of an episode's key in its run. References with whole ids resolve, too.
"""

import re
from typing import NamedTuple

from functions.entries.model import Entry
from functions.platform.errors import NotFound
from functions.platform.run_keys import shorten_episode
from functions.recall.requests import SourceName

_LETTERS: dict[SourceName, str] = {"entries": "e", "facts": "f", "messages": "m", "episodes": "p"}
_NAMES = {letter: source for source, letter in _LETTERS.items()}
_PARTS = {"entries": (1, 2), "facts": (1,), "messages": (2,), "episodes": (2,)}
_UNSAFE = re.compile(rb"[^A-Za-z0-9_-]")
_ESCAPED = re.compile(rb"~([0-9a-f]{2})")


class Reference(NamedTuple):
    """A parsed reference: its source, and what names the item there."""

    source: SourceName
    parts: tuple[str, ...]


def build_reference(source: SourceName, *parts: str | int) -> str:
    """Build the reference of an item from what names it in its source."""
    return ".".join((_LETTERS[source], *(_escape(str(each)) for each in parts)))


def build_entry_references(entry: Entry) -> tuple[str, str]:
    """Build an entry's short reference, and the one with its whole id."""
    agent = (entry.agent_id,) if entry.policy.is_private else ()
    short = f"{entry.policy.id_letter}{entry.nonce}"
    return build_reference("entries", short, *agent), build_reference("entries", entry.id)


def build_episode_references(run_id: str, id: str) -> tuple[str, str]:
    """Build an episode's short reference, and the one with whole ids."""
    short = build_reference("episodes", *shorten_episode(run_id, id))
    return short, build_reference("episodes", run_id, id)


def parse_reference(text: str) -> Reference:
    """Parse a reference."""
    letter, *parts = text.split(".")
    source = _NAMES.get(letter)
    if source is None or len(parts) not in _PARTS[source] or not all(parts):
        raise NotFound("this is no reference; take one from the answer of a recall")
    return Reference(source, tuple(map(_unescape, parts)))


def _escape(part: str) -> str:
    return _UNSAFE.sub(lambda found: b"~%02x" % found[0][0], part.encode()).decode()


def _unescape(part: str) -> str:
    replaced = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), part.encode())
    return replaced.decode(errors="replace")
