"""The form of an API key."""


def may_be_key(text: str) -> bool:
    """Return whether this could be an API key: visible ASCII characters."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text
