"""Ids, keys, roles and labels: both stores accept the same."""

from collections.abc import Sequence

_NOT_IN_A_PATH = (".", "..")  # clients treat these as folders
_MOST_CHARACTERS, _MOST_ID_CHARACTERS, _MOST_ROLE_CHARACTERS, _MOST_NAMES = 255, 128, 64, 50


def assert_session(session_id: str) -> None:
    """Check a session's id.

    Raises:
        ValueError: it isn't 1-255 characters, or is `.` or `..`.
    """
    _assert_segment("session_id", session_id, _MOST_CHARACTERS)


def assert_user(user_id: str) -> None:
    """Check a user's id.

    Raises:
        ValueError: it isn't 1-128 characters, or is `.` or `..`.
    """
    _assert_segment("user_id", user_id, _MOST_ID_CHARACTERS)


def assert_owner(agent_id: str, owner_id: str) -> None:
    """Check the ids of an agent, or its type, and of the owner of a state.

    Raises:
        ValueError: one isn't 1-128 characters, or is `.` or `..`, or the owner's has a slash.
    """
    _assert_segment("agent_id", agent_id, _MOST_ID_CHARACTERS)
    _assert_segment("owner_id", owner_id, _MOST_ID_CHARACTERS)
    if "/" in owner_id:
        raise ValueError("owner_id must not contain a slash")


def assert_state(agent_id: str, owner_id: str, key: str) -> None:
    """Check the names of a state.

    Raises:
        ValueError: one of them has the wrong length, or is `.` or `..`.
    """
    assert_owner(agent_id, owner_id)
    _assert_segment("key", key, _MOST_CHARACTERS)


def assert_role(role: str) -> None:
    """Check a message's role.

    Raises:
        ValueError: it isn't 1-64 characters.
    """
    _assert_text("role", role, _MOST_ROLE_CHARACTERS)


def assert_names(what: str, names: Sequence[str]) -> None:
    """Check participants, readers or tags.

    Raises:
        ValueError: there are more than 50, or one isn't 1-128 characters.
    """
    if len(names) > _MOST_NAMES:
        raise ValueError(f"{what} must have at most {_MOST_NAMES}")
    for name in names:
        _assert_text(what, name, _MOST_ID_CHARACTERS)


def _assert_segment(what: str, text: str, most: int) -> None:
    _assert_text(what, text, most)
    if text in _NOT_IN_A_PATH:
        raise ValueError(f"{what} must not be . or ..")


def _assert_text(what: str, text: str, most: int) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    if not 1 <= len(text) <= most:
        raise ValueError(f"{what} must have 1 to {most} characters")
    text.encode()  # raises UnicodeEncodeError, a ValueError, if it isn't Unicode
