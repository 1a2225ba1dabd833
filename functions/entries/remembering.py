"""Remember a text or a value: in the memory of a user, or of the caller."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from functions.entries.create import Creates
from functions.entries.model import Entry
from functions.entries.requests import Memory, NewEntry
from functions.identity.model import ADMIN, WRITE, Principal
from functions.namespaces.model import encode_segment, name_memory_of_user
from functions.namespaces.rules import get_default
from functions.namespaces.service import Namespaces
from functions.platform.clock import to_rfc3339
from functions.platform.errors import AccessDenied, EntryExists, ValidationFailed
from functions.platform.idempotency import Digests, RequestToken
from functions.platform.json_text import dumps, loads

_DIGEST_BYTES = 16
_MINUS = re.compile(r"(?<!\w)-(?=\d)")
_MARKS = re.compile(r"[^\w\s#%&@]|_")
_MOST_NAMESAKES = 8
"""The maximum number of memories under one digest: a changed memory keeps its key."""


@dataclass(eq=False)
class Remembering:
    """Stores memories in the namespaces of users and agents, each text once."""

    _creates: Creates
    _namespaces: Namespaces
    _digests: Digests

    def remember(self, caller: Principal, new: Memory, token: RequestToken) -> tuple[Entry, bool]:
        """Store a memory, and return its entry, and whether it is new.

        A memory with the same words in the same place is not stored again: letter case and
        punctuation don't count.

        Raises:
            AccessDenied: the caller may not write there, or everybody may read the user's memory.
            EntryExists: the key is given, and another memory has it.
            ValidationFailed: the user's id is too long for a namespace.
        """
        namespace = self._find_namespace(caller, new.user_id)
        value = _build_value(new)
        for key in self._list_keys(new.key, value):
            try:
                made = self._creates.create(caller, _build_entry(new, namespace, key, value), token)
            except EntryExists as conflict:
                present = conflict.current
                if isinstance(present, Entry) and _is_same(present, value):
                    return present, False
                if new.key is not None:
                    raise
            else:
                return made, True
        raise EntryExists("too many memories have this default key; send a `key`")

    def _find_namespace(self, caller: Principal, user_id: str | None) -> str:
        if user_id is None:
            return f"agents/{encode_segment(caller.id)}/memory"
        name = name_memory_of_user(user_id)
        if get_default(self._namespaces.find(caller, name)) != "none" and not self._close(caller):
            raise AccessDenied(
                "the memory of users is readable by the whole tenant; close it first: PATCH "
                "/api/v1/memory/namespaces/users%2F* with permissions.default none, and allow"
                " your agents"
            )
        return name

    def _close(self, caller: Principal) -> bool:
        """Close the memory of users when an administrator stores the first one of a tenant."""
        return {ADMIN, WRITE} <= caller.permissions and self._namespaces.close_users(caller)

    def _list_keys(self, key: str | None, value: dict[str, Any]) -> Iterator[str]:
        """List the keys to try: the given one, or those of the digest of the memory's words."""
        if key is not None:
            yield key
            return
        words = _normalize(value).encode()
        digest = self._digests.compute("memory", words, _DIGEST_BYTES).hex()
        yield digest
        yield from (f"{digest}-{number}" for number in range(2, _MOST_NAMESAKES + 1))


def _build_value(new: Memory) -> dict[str, Any]:
    value = {"text": new.text} if new.value is None else new.value
    return value if new.source is None else {**value, "source": new.source}


def _build_entry(new: Memory, namespace: str, key: str, value: dict[str, Any]) -> NewEntry:
    fields = new.model_dump(include={"tags", "ttl", "sensitivity", "occurred_at"})
    given = {name: each for name, each in fields.items() if each is not None}
    if new.occurred_at is not None:
        given["occurred_at"] = to_rfc3339(new.occurred_at)
    try:
        return NewEntry(namespace=namespace, key=key, value=value, memory_type="semantic", **given)
    except ValidationError as error:
        raise ValidationFailed("user_id", "is too long for the name of a namespace") from error


def _is_same(present: Entry, value: dict[str, Any]) -> bool:
    return not present.unreadable and _normalize(loads(present.value)) == _normalize(value)


def _normalize(value: dict[str, Any]) -> str:
    """Reduce a value to its words: `{"text": "Likes tea!"}` and `{"text": "likes  tea"}` agree."""
    content = {name: each for name, each in value.items() if name != "source"}
    text = unicodedata.normalize("NFKC", dumps(dict(sorted(content.items()))).decode())
    signed = _MINUS.sub("\u2212", text.casefold())
    return " ".join(_MARKS.sub(_keep_sign, signed).split())


def _keep_sign(mark: re.Match[str]) -> str:
    """Keep what changes the meaning: signs such as +, emoji, and the vowels of some scripts."""
    return mark[0] if unicodedata.category(mark[0])[0] in "SM" else " "
