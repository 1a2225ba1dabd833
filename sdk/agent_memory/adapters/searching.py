"""Convert queries for the service: stores of frameworks accept any text."""

_MOST_CHARACTERS = 8192


def to_query(text: str | None) -> str | None:
    """Return the searchable part of a text; None if it is empty."""
    return (text or "").strip()[:_MOST_CHARACTERS].strip() or None
