"""Namespaces, their permissions, and what decides on access (RFC-0015 §2.3)."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from urllib.parse import quote

from functions.platform.idempotency import RequestHistory
from functions.platform.kept_history import HistoryRule
from functions.platform.keys import build_list_position

Access = Literal["none", "read", "write", "admin"]

PREFIX_MARK = "*"
"""The last character of a prefix rule's name."""
USERS = "users"
"""The first part of the names of namespaces and spaces about persons."""


def encode_segment(id: str) -> str:
    """Encode an id as a part of a namespace's name; different ids stay different."""
    quoted = quote(id, safe="").replace(PREFIX_MARK, "%2A")
    return quoted.replace(".", "%2E") if quoted in (".", "..") else quoted


def name_memory_of_user(user_id: str) -> str:
    """Name the namespace that `remember` stores a user's memories in."""
    return f"{USERS}/{encode_segment(user_id)}/memory"


def list_spellings(user_id: str) -> list[str]:
    """List the spellings of a person's id in names of namespaces and spaces: encoded, or plain."""
    encoded = encode_segment(user_id)
    return [encoded] if "/" in user_id or encoded == user_id else [encoded, user_id]


@dataclass(frozen=True, slots=True)
class Namespace:
    """The permissions of a namespace, or of all names with a prefix (a prefix rule).

    Attributes:
        namespace: the namespace; a prefix rule's ends with `*`.
        default: the access of principals that aren't listed; None: the next prefix rule decides.
        allow: the access of listed principals, by their ids.
        search_fields: the fields of values that searches may compare.
        history: how long earlier values of its entries are kept; None: the default.
    """

    namespace: str
    default: Access | None = None
    allow: dict[str, Access] = field(default_factory=dict)
    version: int = 1
    created_at: int = 0  # epoch ms
    updated_at: int = 0  # epoch ms
    search_fields: tuple[str, ...] = ()
    history: HistoryRule | None = None
    requests: RequestHistory | None = field(default=None, compare=False)

    @property
    def list_position(self) -> str:
        """Return the position in lists, newest first."""
        return build_list_position(self.created_at, self.namespace)

    @property
    def is_decided(self) -> bool:
        """Tell whether a request has set these permissions, not only a first write."""
        return self.requests is not None


class NamespaceTarget(NamedTuple):
    """A namespace, with the facts that decide on a caller's access.

    Attributes:
        configured: its own permissions; None if it isn't configured.
        rules: the prefix rules that match its name, the longest first.
        is_denied: whether guardrails deny it to the caller (RFC-0015 §6.6).
    """

    name: str
    configured: Namespace | None = None
    rules: tuple[Namespace, ...] = ()
    is_denied: bool = False
