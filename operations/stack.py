"""The deployed stack, as CloudFormation knows it."""

from dataclasses import dataclass
from typing import Any

import boto3


@dataclass(frozen=True)
class Stack:
    """A stack of a stage, its outputs by name, and its functions."""

    name: str
    outputs: dict[str, str]

    @classmethod
    def of(cls, stage: str) -> "Stack":
        """Find the stack of a stage, in the account and region at hand.

        Raises:
            botocore.exceptions.ClientError: there is none, or it may not be looked at.
        """
        name = f"agent-memory-{stage}"
        (stack,) = client("cloudformation").describe_stacks(StackName=name)["Stacks"]
        outputs = {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", ())}
        return cls(name, outputs)

    def function(self, name: str) -> str:
        """Find the physical name of a function: `Api`, `Stream` or `Schedule`."""
        pages = client("cloudformation").get_paginator("list_stack_resources")
        (found,) = (
            str(resource["PhysicalResourceId"])
            for page in pages.paginate(StackName=self.name)
            for resource in page["StackResourceSummaries"]
            if resource["ResourceType"] == "AWS::Lambda::Function"
            and resource["LogicalResourceId"].startswith(f"{name}Function")
        )
        return found


def client(service: str) -> Any:
    """Make a client of a service, for the credentials and the region at hand."""
    return boto3.client(service)
