"""Findings of cdk-nag that are meant to be so: each on its own resource, with its reason."""

from typing import cast

from aws_cdk import Acknowledgment, CfnResource, Stack, Validations
from constructs import IConstruct


def suppress(where: IConstruct, reason: str, *rules: str) -> None:
    """Suppress what the rules find at one construct, as in `AwsSolutions-SQS3`."""
    for rule in rules:
        pack = rule.partition("-")[0]
        Validations.of(where).acknowledge(Acknowledgment(id=f"{pack}::{rule}", reason=reason))


def wildcard_rule(what: IConstruct, path: str) -> str:
    """Name the rule that finds grants on all that lies below a resource, as in `/stream/*`."""
    resource = cast("CfnResource", what.node.default_child)
    name = Stack.of(what).get_logical_id(resource)
    return f"AwsSolutions-IAM5[Resource::<{name}.Arn>{path}]"
