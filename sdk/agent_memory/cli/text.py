"""Text for terminals: measure its width, and escape control characters of values."""

import json
import re
import unicodedata
from typing import Any

# Control characters (C0, DEL, C1, notations), direction marks, invisible characters, halves of
# pairs. The joiners U+200C and U+200D stay, since scripts and emoji need them.
_DANGEROUS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})
_JAMO = range(0x1160, 0x1200)  # vowels and finals: drawn into the syllable before them
ELLIPSIS = "…"


def escape_controls(text: str) -> str:
    r"""Escape control, invisible and direction characters: `\x1b` is escape."""
    return _DANGEROUS.sub(lambda match: _escape_character(match.group()), text)


def _escape_character(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return _NAMED.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def render_json_line(document: Any) -> str:
    r"""Return a document as one line of JSON: exact, in Unicode, escaped like `escape_controls`.

    Control characters are only in strings, where `\u001b` means the same.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return _escape(text)


def render_indented_json(document: Any) -> str:
    """Return a document as indented JSON, escaped in the same way."""
    lines = json.dumps(document, ensure_ascii=False, indent=2).split("\n")
    return "\n".join(map(_escape, lines))


def _escape(text: str) -> str:
    return _DANGEROUS.sub(lambda match: json.dumps(match.group())[1:-1], text)


def width(text: str) -> int:
    """Return the width of a text in columns of a terminal."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in _NO_WIDTH or ord(character) in _JAMO:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def truncate(text: str, columns: int) -> str:
    """Return a text cut to a number of columns; an ellipsis replaces the rest."""
    if width(text) <= columns:
        return text
    kept, room = 0, columns - 1
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        kept += 1
    return text[:kept] + ELLIPSIS


def pad(text: str, columns: int) -> str:
    """Return a text, filled up with spaces to a number of columns."""
    return text + " " * (columns - width(text))
