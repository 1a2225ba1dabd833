"""The form of an API key."""


def may_be_key(text: str) -> bool:
    """Return whether a text can be an API key: visible ASCII characters."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text
