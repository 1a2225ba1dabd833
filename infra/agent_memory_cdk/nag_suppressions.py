"""Accepted findings of cdk-nag, each on its own resource, with its reason."""

from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import IConstruct


def suppress(where: IConstruct, reason: str, *rules: str) -> None:
    """Suppress findings at one construct, such as `AwsSolutions-SQS3`."""
    for rule in rules:
        pack = rule.partition("-")[0]
        Validations.of(where).acknowledge(Acknowledgment(id=f"{pack}::{rule}", reason=reason))


def wildcard_rule(where: IConstruct, arn: str) -> str:
    """Name the rule that finds grants on an ARN that ends with `*`."""
    resource = Stack.of(where).resolve(arn)
    return f"AwsSolutions-IAM5[Resource::{_render(resource)}]"


def _render(resource: Any) -> str:
    """Render a resolved ARN as cdk-nag does: references as `<LogicalId.Attribute>`."""
    if isinstance(resource, str):
        return resource
    ((function, value),) = resource.items()
    if function == "Fn::Join":
        return "".join(map(_render, value[1]))
    return f"<{'.'.join(value) if isinstance(value, list) else value}>"
