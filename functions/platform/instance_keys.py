"""Keys of what instances of agents hold while they work."""

from functions.platform.keys import Key, digest


def instance_item(tenant: str, instance: str) -> Key:
    """The item of all of an instance's working values."""
    return f"{tenant}#y#{digest('instance', instance)}", "w"
