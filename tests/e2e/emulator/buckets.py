"""The CDK's function that empties a bucket before the stack deletes it.

It runs on Node, with an AWS SDK that Lambda has and the emulator lacks. A bucket is deleted with
what it holds here, so nothing is left for it to do.
"""

from typing import Any

from ministack.services.cloudformation import provisioners

_KIND = "Custom::S3AutoDeleteObjects"


def _create(logical_id: str, properties: dict[str, Any], stack: str) -> tuple[str, dict[str, Any]]:
    return f"{stack}-{logical_id}-{properties['BucketName']}", {}


def _delete(physical_id: str, properties: dict[str, Any]) -> None:
    """Needs nothing."""


def mend() -> None:
    """Take the place of the function."""
    provisioners._RESOURCE_HANDLERS[_KIND] = {"create": _create, "delete": _delete}
