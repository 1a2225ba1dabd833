"""Queries as the service takes them: frameworks' own stores take any text."""

_MOST_CHARACTERS = 8192


def to_query(text: str | None) -> str | None:
    """Return the part of a text that the service searches for; None if there is nothing."""
    return (text or "").strip()[:_MOST_CHARACTERS].strip() or None
