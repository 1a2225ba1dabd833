"""References: short texts that name an item of any source, and are safe in a path.

Example: `m.session-1.3` is the message 3 of the conversation `session-1`. A character other than
letters, digits, `-` and `_` is written as `~` and the two hexadecimal digits of each of its bytes.

Ids of entries and episodes contain their whole keys, so references have only a unique part: the
tier and the nonce of an entry, with the agent if it is private, and the start of an episode's key
in its run. References with whole ids resolve, too.
"""

import re
from typing import Literal, NamedTuple

from functions.platform.entry_keys import parse_entry_id, split_nonce
from functions.platform.errors import NotFound
from functions.platform.keys import Digest, hash_agent, hash_name
from functions.platform.run_keys import shorten_episode

SourceName = Literal["entries", "facts", "messages", "episodes"]
_LETTERS: dict[SourceName, str] = {"entries": "e", "facts": "f", "messages": "m", "episodes": "p"}
_NAMES = {letter: source for source, letter in _LETTERS.items()}
_PARTS = {"entries": (1, 2), "facts": (1,), "messages": (2,), "episodes": (2,)}
_UNSAFE = re.compile(rb"[^A-Za-z0-9_-]")
_ESCAPED = re.compile(rb"~([0-9a-f]{2})")


class Reference(NamedTuple):
    """A parsed reference: a source, and the parts that name its item."""

    source: SourceName
    parts: tuple[str, ...]


def build_reference(source: SourceName, *parts: str | int) -> str:
    """Build the reference of an item from its source and the parts that name it."""
    return ".".join((_LETTERS[source], *(_escape(str(each)) for each in parts)))


def parse_reference(text: str) -> Reference:
    """Parse a reference."""
    letter, *parts = text.split(".")
    source = _NAMES.get(letter)
    if source is None or len(parts) not in _PARTS[source] or not all(parts):
        raise no_reference()
    return Reference(source, tuple(map(_unescape, parts)))


def hash_reference(text: str) -> Digest:
    """Hash the item of a reference: short and whole references of one item have the same hash.

    Raises:
        NotFound: the text is no reference.
    """
    source, parts = parse_reference(text)
    match source:
        case "entries":
            parts = _identify_entry(*parts)
        case "messages":
            if not (parts[1].isascii() and parts[1].isdecimal()):
                raise no_reference()
            parts = (parts[0], parts[1].lstrip("0") or "0")
        case "episodes" if parts[0].startswith("run_"):
            parts = shorten_episode(*parts)
    return hash_name("reference", build_reference(source, *parts))


def no_reference() -> NotFound:
    """Build the error for a text that is no reference."""
    return NotFound("this is not a reference; use one from the response of a recall")


def _identify_entry(name: str, agent: str | None = None) -> tuple[str, ...]:
    if agent is None and name.startswith("mem_"):
        address, nonce = parse_entry_id("", name)
        owner = () if address.tier == "n" else (address.owner,)
        return (f"{address.tier}{nonce}", *owner)
    if name[:1] not in ("n" if agent is None else "we") or split_nonce(name[1:]) is None:
        raise no_reference()
    return (name,) if agent is None else (name, hash_agent(agent))


def _escape(part: str) -> str:
    return _UNSAFE.sub(lambda found: b"~%02x" % found[0][0], part.encode()).decode()


def _unescape(part: str) -> str:
    replaced = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), part.encode())
    return replaced.decode(errors="replace")
