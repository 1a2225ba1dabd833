"""CodeDeploy's resources, which do nothing here: an alias moves to its new version at once."""

from typing import Any

from ministack.services.cloudformation import provisioners

_KINDS = ("AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup")


def _create(logical_id: str, _properties: dict[str, Any], stack: str) -> tuple[str, dict[str, Any]]:
    return f"{stack}-{logical_id}", {}


def _delete(_physical_id: str, _properties: dict[str, Any]) -> None:
    """Needs nothing."""


def mend() -> None:
    """The emulator refuses templates that have them."""
    for kind in _KINDS:
        provisioners._RESOURCE_HANDLERS[kind] = {"create": _create, "delete": _delete}
