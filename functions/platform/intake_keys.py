"""Keys of what was taken in from other systems."""

from functions.platform.keys import Key, digest


def taken_item(tenant: str, source: str, event: str) -> Key:
    """What says that an event of another system has been carried out."""
    return f"{tenant}#e#{digest('taken', f'{len(source)}:{source}{event}')}", "e"
