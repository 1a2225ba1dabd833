"""The deployed stack, as who operates it sees it."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.e2e.cloud import Cloud
from tests.e2e.deployed import DeployedService, deployed_service
from tests.e2e.toolkit import NAME

_ROLE, _KEY = "AWS::IAM::Role", "AWS::KMS::Key"


@dataclass(frozen=True)
class Deployment:
    """A deployment on an emulated AWS."""

    cloud: Cloud
    name: str = NAME

    @property
    def stacks(self) -> tuple[str, str]:
        """Names of the stack of what is kept, and of what runs."""
        return f"agent-memory-{self.name}-state", f"agent-memory-{self.name}"

    @cached_property
    def outputs(self) -> dict[str, str]:
        ssm = self.cloud.client("ssm")
        stored = ssm.get_parameter(Name=f"/agent-memory/{self.name}/deployment")
        description: dict[str, str] = json.loads(stored["Parameter"]["Value"])
        return description

    @cached_property
    def service(self) -> DeployedService:
        """The service as its tenants meet it."""
        api_id = self.outputs["ApiUrl"].removeprefix("https://").partition(".")[0]
        return deployed_service(self.cloud, api_id, self._root_key())

    def _root_key(self) -> str:
        secrets = self.cloud.client("secretsmanager")
        answer = secrets.get_secret_value(SecretId=self.outputs["RootKeySecretId"])
        return str(answer["SecretString"])

    @cached_property
    def resources(self) -> list[dict[str, Any]]:
        pages = self.cloud.client("cloudformation").get_paginator("list_stack_resources")
        return [
            resource
            for stack in self.stacks
            for page in pages.paginate(StackName=stack)
            for resource in page["StackResourceSummaries"]
        ]

    def function(self, name: str) -> str:
        """Find the physical name of a function: `Api`, `Stream` or `Schedule`."""
        return self.outputs[f"{name}Function"]

    def alias_of(self, name: str) -> str:
        """Find what a function is invoked by."""
        return f"{self.function(name)}:{self.outputs['Alias']}"

    def role(self, part: str) -> str:
        """The name of the role of a part: `ApiFunction` and so on, or `ScheduleRole`."""
        return self._physical_id(_ROLE, part)

    def key(self, part: str) -> str:
        """The id of an encryption key: `Storage` or `Values`."""
        return self._physical_id(_KEY, f"{self.name.capitalize()}{part}Key")

    def _physical_id(self, kind: str, part: str) -> str:
        (found,) = (
            str(each["PhysicalResourceId"])
            for each in self.resources
            if each["ResourceType"] == kind and each["LogicalResourceId"].startswith(part)
        )
        return found

    def items(self, table: str, partition_prefix: str) -> list[dict[str, Any]]:
        """The items of `MemoryTable` or `LogTable` whose partition begins so, in typed form."""
        pages = self.cloud.client("dynamodb").get_paginator("scan")
        found = pages.paginate(
            TableName=self.outputs[table],
            FilterExpression="begins_with(pk, :prefix)",
            ExpressionAttributeValues={":prefix": {"S": partition_prefix}},
        )
        return [item for page in found for item in page["Items"]]
