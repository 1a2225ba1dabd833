"""`Ref` of a secret is its ARN."""

from typing import Any

from ministack.services.cloudformation import provisioners

Properties = dict[str, Any]
Made = tuple[str, dict[str, Any]]

_KIND = "AWS::SecretsManager::Secret"
_MARK = ":secret:"
_handlers = dict(provisioners._RESOURCE_HANDLERS[_KIND])


def _name(physical_id: str) -> str:
    """Return the emulator's name of the secret: its ARN without the six random characters."""
    _, _, named = physical_id.partition(_MARK)
    return named.rpartition("-")[0] if named else physical_id


def _create(logical_id: str, properties: Properties, stack: str) -> Made:
    _, attributes = _handlers["create"](logical_id, properties, stack)
    return attributes["Arn"], attributes


def _update(
    physical_id: str, old: Properties, new: Properties, stack: str, logical_id: str | None = None
) -> Made:
    _, attributes = _handlers["update"](_name(physical_id), old, new, stack, logical_id)
    return attributes["Arn"], attributes


def _delete(physical_id: str, properties: Properties) -> None:
    _handlers["delete"](_name(physical_id), properties)


def mend() -> None:
    """The emulator gives the secret's name."""
    changed = {"create": _create, "update": _update, "delete": _delete}
    provisioners._RESOURCE_HANDLERS[_KIND].update(changed)
